// How long each file took the last time, kept beside the other caches: the order of the next run.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cacheFolder } from '../servers/cache.ts'

const kept = cacheFolder('test-times.json')

export async function readTimes(file = kept): Promise<Map<string, number>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, number>))
  } catch {
    return new Map() // the first run, or a file cut short: only the order is worse
  }
}

export async function keepTimes(times: ReadonlyMap<string, number>, file = kept): Promise<void> {
  const all = new Map([...(await readTimes(file)), ...times])
  const draft = `${file}.${process.pid}` // two runs at once may both write
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(draft, JSON.stringify(Object.fromEntries(all), null, 1))
    await rename(draft, file)
  } catch {
    // no place to write, for example a read-only home: the next run guesses again
  }
}
