// What Drover's writers may say about a Hypervisor (spec §1.4), type → status → reasons.
import type { Told } from './conditions.ts'

interface Unit {
  True: 'Running'
  False: 'Stopped' | 'Failed'
  Unknown: 'Activating' | 'Reloading' | 'Deactivating' | 'NotFound'
}

export interface HypervisorConditions {
  Ready: {
    True: 'Ready'
    False:
      | 'Offboarded'
      | 'Terminating'
      | 'Onboarding'
      | 'Evicting'
      | 'Evicted'
      | 'Maintenance'
      | 'AgentLost'
      | 'LibVirtDown'
      | 'NovaServiceDown'
      | 'NodeNotReady'
      | 'NetworkDown'
  }
  /** From the OVSNode; absent where no OVS agent reports. */
  NetworkHealthy: { True: 'AllHealthy'; False: 'NetworkDown' | 'NetworkDegraded'; Unknown: 'AgentSilent' | 'NotKnown' }
  /** `Failed` is True, because readers take False as done. */
  Onboarding: { True: 'Initial' | 'Testing' | 'Handover' | 'Aborted' | 'Failed'; False: 'Succeeded' | 'Aborted' }
  Offboarded: { True: 'Offboarded'; False: 'Offboarding' | 'Blocked' }
  Terminating: { True: 'Terminating'; False: 'Cancelled' }
  Tainted: { True: 'Kubectl'; False: 'NoKubectl' }
  TraitsUpdated: { True: 'Succeeded'; False: 'Failed' | 'ProviderMissing' }
  AggregatesUpdated: {
    True: 'Succeeded'
    False: 'TestAggregates' | 'WaitingForTraits' | 'EvictionInProgress' | 'Terminating' | 'Failed'
  }
  HypervisorDisabled: { True: 'Succeeded'; False: 'Succeeded'; Unknown: 'Drift' }
  /** Never False while servers are left. */
  Evicting: { True: 'Running' | 'Failed' | 'Blocked'; False: 'Succeeded' }
  AgentPodsEvicted: { True: 'NoAgentPods'; False: 'AgentPodsRunning' }
  HaEnabled: { True: 'Succeeded'; False: 'Succeeded' | 'Evicted' | 'Onboarding' | 'NoFencing'; Unknown: 'Failed' }
  'libvirtd.service': Unit
  'openvswitch-switch.service': Unit
  LibVirtConnection: { True: 'Connected'; False: 'ConnectFailed' | 'LibVirtServiceNotRunning' | 'ProcessFailed' }
  OperatingSystemUpdate: { True: 'Running' | 'Completed'; False: 'Stopped' }
  TLSCertificateInstalled: {
    True: 'Ready'
    False: 'Installing' | 'FailedToUpdateTLSCertificate' | 'FailedToStartUpdateTLSService' | 'Expiring'
  }
}

export type HypervisorCondition = Told<HypervisorConditions>
