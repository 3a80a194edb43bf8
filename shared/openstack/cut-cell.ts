import { OpenStackError, type ComputeService } from 'openstack-sdk-lite'

/** Of a service in a cell that does not answer Nova tells the host alone: nothing follows from that, and least of all that it is gone. */
export function refuseCutCell(service: ComputeService | undefined): void {
  if (service?.status === 'unknown') throw new OpenStackError('ServiceFault', `the cell of ${service.host} does not answer`)
}
