/** The pure code: what decides, judges, plans and renders, without a call to anything outside. */
export const targets: readonly string[] = [
  'functions/*/{decide,judge,judge-all,classify,checks,failure,moves,plan,settle,correlate,requests,check,ladder,reflect,render,render-*}.ts',
  'functions/certificate/presence.ts',
  'shared/rules/*.ts',
  'shared/openstack-sdk-lite/src/resources/server-actions.ts',
  'agents/ovs/{bonds,flows,conditions,judge}.ts'
]
