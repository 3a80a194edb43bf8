// KubeVirt's own go.mod replaces two modules by folders that the published module does not hold, so that `go install` refuses it. Hence
// a small module of our own: KubeVirt's go.mod with both replaced by the published modules of the same release.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { cacheFolder } from './cache.ts'
import { findGo } from './go.ts'
import { say } from './say.ts'

const version = '1.7.0'
const parts = ['virt-api', 'virt-controller', 'kubevirt-crds', 'kubevirt-webhooks']
const run = promisify(execFile)
export const kubevirtFolder = cacheFolder(`kubevirt-${version}`)

async function goMod(go: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run(go, ['mod', 'download', '-json', `kubevirt.io/kubevirt@v${version}`], { cwd: folder, env })
  const { GoMod } = JSON.parse(stdout) as { GoMod: string }
  const text = (await readFile(GoMod, 'utf8'))
    .replace(/^module .*/m, 'module drover.test/kubevirt')
    .replaceAll(/=> \.\/staging\/src\/(kubevirt\.io\/[a-z-]+)/g, `=> $1 v${version}`)
  return `${text}\nrequire kubevirt.io/kubevirt v${version}\n`
}

async function compile(go: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = await run(go, ['list', '-deps', '.'], { cwd: folder, env, maxBuffer: 1 << 26 })
  const total = stdout.trim().split('\n').length
  const started = Date.now()
  const args = ['build', '-v', '-trimpath', '-ldflags', '-s -w', '-o', 'kubevirt', '.']
  const child = spawn(go, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  createInterface(child.stderr).on('line', line => lines.push(line))
  const progress = setInterval(() => {
    const seconds = (Date.now() - started) / 1000
    const left = Math.round((seconds / Math.max(lines.length, 1)) * (total - lines.length))
    say(`KubeVirt: ${lines.length} of ${total} packages compiled, about ${left > 0 ? left : 20} s left`)
  }, 20_000)
  const [code] = (await once(child, 'close').finally(() => clearInterval(progress))) as [number]
  if (code !== 0) throw new Error(`go build of KubeVirt failed:\n${lines.slice(-20).join('\n')}`)
}

/** virt-api, virt-controller and the printers of their CRDs and webhooks as one binary, compiled once for this user. */
export async function buildKubevirt(): Promise<string> {
  const built = await readFile(join(kubevirtFolder, 'version'), 'utf8').catch(() => '')
  if (built === version) return kubevirtFolder
  const go = await findGo()
  say(`compiling KubeVirt ${version} once into ${kubevirtFolder} (about 6 minutes on two cores, kept for later runs)`)
  await mkdir(cacheFolder(), { recursive: true })
  const folder = await mkdtemp(`${kubevirtFolder}-`)
  try {
    const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
    await writeFile(join(folder, 'go.mod'), 'module drover.test/kubevirt\n')
    await writeFile(join(folder, 'go.mod'), await goMod(go, folder, env))
    await copyFile(join(import.meta.dirname, 'kubevirt', 'main.go'), join(folder, 'main.go'))
    await compile(go, folder, env)
    for (const part of parts) await symlink('kubevirt', join(folder, part))
    await writeFile(join(folder, 'version'), version)
    await rm(kubevirtFolder, { recursive: true, force: true })
    await rename(folder, kubevirtFolder) // two runs at once: the second to end replaces equal by equal
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return kubevirtFolder
}
