// Where a disk is, as far as its path tells: whether several hosts can lose it at once (HA-16). Pure.

/** `rbd:pool`, `mount:<dir>`, `device`, `local` for the host's own disks; empty when nobody knows. */
export function storageOf(path: string): string {
  if (path === '') return ''
  const network = /^(rbd|nbd|iscsi|nfs|gluster|https?):\/*([^/:]+)/.exec(path)
  if (network) return `${network[1]}:${network[2]}`
  const mount = /^(.*\/mnt\/[^/]+)\//.exec(path)
  if (mount) return `mount:${mount[1]}`
  if (path.startsWith('/dev/')) return 'device'
  return 'local'
}

/** Disks of a host's own break for that host alone. */
export const mayBeShared = (storage: string | undefined): boolean => storage !== 'local'
