// HV-25: whether the agents have left a node that is being offboarded. Pure.
import type { Pod } from '../../shared/kube/kinds.ts'

const taint = { key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }

/** A pod that tolerates the taint for ever is meant to stay; a pod that is being deleted still runs. */
function staysFor(pod: Pod): boolean {
  return (pod.spec?.tolerations ?? []).some(({ key, operator, effect, value, tolerationSeconds }) => {
    const everyKey = !key && operator === 'Exists'
    const fits = everyKey || (key === taint.key && (operator === 'Exists' || !value))
    return fits && (!effect || effect === taint.effect) && tolerationSeconds === undefined
  })
}

const ended = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

export const remainingAgents = (pods: readonly Pod[]): string[] =>
  pods
    .filter(pod => !ended(pod) && !staysFor(pod))
    .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
    .sort()
