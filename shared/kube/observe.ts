import type { KubeObject } from '../schema/kind.ts'

export const observeAnnotation = 'kvm.cloud.sap/drover-observe'

/** HV-8: for the whole install, or for one host that says so. */
export const isObserved = (object: KubeObject | undefined, { observe }: { observe: boolean }): boolean =>
  observe || object?.metadata?.annotations?.[observeAnnotation] === 'true'
