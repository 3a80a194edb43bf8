// How quick the fake is.

/** How long things take, in milliseconds. */
export interface Pace {
  schedule: number
  build: number
  /** stop, start, reboot, suspend, … */
  power: number
  coldMove: number
  evacuate: number
  /** between a server's arrival and the end of its migration record */
  settle: number
  remove: number
  /** between the 202 and what nova-compute does about an abort or a forced end */
  obey: number
  /** between two audits of a running nova-compute, which make up for a deleted provider or a lost trait */
  audit: number
  /** between two reports of a nova-compute that runs (report_interval) */
  report: number
  /** without a report for longer than this a service is down (service_down_time) */
  serviceDown: number
  /** until Nova gives up a call to a nova-compute that is dead (rpc_response_timeout) */
  call: number
}

export const quickPace: Pace = {
  schedule: 5,
  build: 10,
  power: 5,
  coldMove: 20,
  evacuate: 20,
  settle: 5,
  remove: 5,
  obey: 5,
  audit: 60_000,
  report: 10_000,
  serviceDown: 60_000,
  call: 60_000
}
