// Definitions of others, taken from the Go modules that they are published in.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findGo } from './go.ts'

const run = promisify(execFile)

export interface Crd {
  metadata: { name: string; annotations?: object; creationTimestamp?: unknown }
  status?: unknown
}

/** The folder of a module. */
export async function download(module: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-crds-'))
  try {
    const { stdout } = await run(await findGo(), ['mod', 'download', '-json', module], { cwd: folder })
    return (JSON.parse(stdout) as { Dir: string }).Dir
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Descriptions are left out: they are half of the size, and no server reads them. */
export const lean = (crd: Crd): string => {
  const { annotations: _annotations, creationTimestamp: _created, ...metadata } = crd.metadata
  const { status: _status, ...rest } = crd
  const text = JSON.stringify({ ...rest, metadata }, function (this: { properties?: unknown }, key, value: unknown) {
    // a field that is called description has a schema, not a text
    return key === 'description' && typeof value === 'string' ? undefined : value
  })
  return `${text}\n`
}
