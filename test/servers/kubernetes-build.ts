// Kubernetes' own go.mod replaces its staging modules by folders that the published module does not hold, so `go install` refuses it.
// Hence a small module of our own: Kubernetes' go.mod with each staging folder replaced by the published module of the same release.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { cacheFolder } from './cache.ts'
import { findGo } from './go.ts'
import { say } from './say.ts'

export const version = '1.36.3'
const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']
const run = promisify(execFile)
export const binFolder = cacheFolder(`kubernetes-${version}-control`)

/** The go.mod of a module that compiles parts of Kubernetes, in the versions that Kubernetes chose. */
export async function goMod(go: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const options = { cwd: folder, env }
  const { stdout } = await run(go, ['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`], options)
  const { GoMod } = JSON.parse(stdout) as { GoMod: string }
  const published = `$1 v0.${version.slice(2)}`
  const text = (await readFile(GoMod, 'utf8'))
    .replace(/^module .*/m, 'module drover.test/kube')
    .replaceAll(/=> \.\/staging\/src\/(k8s\.io\/[a-z-]+)/g, `=> ${published}`)
  return `${text}\nrequire k8s.io/kubernetes v${version}\n`
}

/** Without these /version says v0.0.0-master, and clients that ask for a minimum version refuse the server. */
function linkerFlags(): string {
  const facts = {
    gitVersion: `v${version}`,
    gitMajor: '1',
    gitMinor: version.split('.')[1],
    gitTreeState: 'archive',
    gitCommit: 'unknown'
  }
  const set = Object.entries(facts).flatMap(([key, value]) =>
    ['component-base/version', 'client-go/pkg/version'].map(pkg => `-X k8s.io/${pkg}.${key}=${value}`)
  )
  return ['-s', '-w', ...set].join(' ')
}

/** `-o OUTPUT`, of one package or more, with a line of progress every 20 s. */
export async function compile(
  go: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  { what = 'Kubernetes', output = 'kube', packages = ['.'] } = {}
): Promise<void> {
  const { stdout } = await run(go, ['list', '-deps', ...packages], { cwd: folder, env, maxBuffer: 1 << 26 })
  const total = stdout.trim().split('\n').length
  const started = Date.now()
  const child = spawn(go, ['build', '-v', '-trimpath', '-ldflags', linkerFlags(), '-o', output, ...packages], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const lines: string[] = []
  createInterface(child.stderr).on('line', line => lines.push(line))
  const progress = setInterval(() => {
    const seconds = (Date.now() - started) / 1000
    const left = Math.round((seconds / Math.max(lines.length, 1)) * (total - lines.length))
    say(`${what}: ${lines.length} of ${total} packages compiled, about ${left > 0 ? left : 20} s left`)
  }, 20_000)
  const [code] = (await once(child, 'close').finally(() => clearInterval(progress))) as [number]
  if (code !== 0) throw new Error(`go build of ${what} failed:\n${lines.slice(-20).join('\n')}`)
}

/** etcd, kube-apiserver, kube-controller-manager and kubectl as one binary, compiled once for this user. */
export async function buildKubernetes(): Promise<string> {
  const built = await readFile(join(binFolder, 'version'), 'utf8').catch(() => '')
  if (built === version) return binFolder
  const go = await findGo()
  say(`compiling Kubernetes ${version} once into ${binFolder} (about 6 minutes on two cores, kept for later runs)`)
  await mkdir(cacheFolder(), { recursive: true })
  const folder = await mkdtemp(`${binFolder}-`)
  try {
    const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
    await writeFile(join(folder, 'go.mod'), 'module drover.test/kube\n')
    await writeFile(join(folder, 'go.mod'), await goMod(go, folder, env))
    await copyFile(join(import.meta.dirname, 'kubernetes', 'main.go'), join(folder, 'main.go'))
    await compile(go, folder, env)
    for (const part of parts) await symlink('kube', join(folder, part))
    await writeFile(join(folder, 'version'), version)
    await rm(binFolder, { recursive: true, force: true })
    await rename(folder, binFolder) // two runs at once: the second to end replaces equal by equal
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return binFolder
}
