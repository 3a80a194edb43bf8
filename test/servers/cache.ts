import { homedir } from 'node:os'
import { join } from 'node:path'

/** What is built once and kept over clones: `$XDG_CACHE_HOME/drover/…`. */
export const cacheFolder = (...path: string[]): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'drover', ...path)
