// The row of the page: how long an update takes with 1,000 hosts, in headless Chromium. Filled by the bench of the console; the fleet that
// runs is handed in, so that both figures are of the same one.
import type { Report } from '../report.ts'

export interface RunningFleet {
  kubeconfig: string
  /** The fleet page. */
  url: string | undefined
}

export async function benchPage(_report: Report, _fleet: RunningFleet): Promise<void> {}
