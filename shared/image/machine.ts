// What the image takes from the machine that makes it: Node.js, the libraries that it is linked with, and the one command that an agent calls.
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { run } from './run.ts'

/** systemd-inhibit holds the hypervisor agent's shutdown lock (agents/hypervisor/host/inhibitor.ts), `cat` is what it waits for. */
const commands = ['/usr/bin/systemd-inhibit', '/usr/bin/cat']
// Until glibc 2.34 names were looked up by libraries that are loaded at run time, which `ldd` does not tell.
const loadedLater = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']

/** Where each file comes from, by where it is in the image. */
export async function machineFiles(): Promise<Map<string, string>> {
  const missing = commands.filter(command => !existsSync(command))
  if (missing.length > 0) throw new Error(`${missing.join(', ')} missing: apt-get install systemd coreutils`)
  const files = new Map([['/usr/local/bin/node', process.execPath]])
  for (const program of [process.execPath, ...commands]) {
    if (program !== process.execPath) files.set(program, program)
    for (const library of await librariesOf(program)) files.set(library, library)
  }
  const libc = [...files.keys()].find(file => basename(file) === 'libc.so.6')
  if (libc === undefined) throw new Error(`${process.execPath} is not linked with glibc: make the image on Debian or the like`)
  for (const name of loadedLater) {
    const file = join(dirname(libc), name)
    if (existsSync(file)) files.set(file, file)
  }
  return files
}

async function librariesOf(program: string): Promise<string[]> {
  const text = await run('ldd', [program])
  return [...text.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path as string)
}

export async function copyMachine(files: ReadonlyMap<string, string>, root: string): Promise<void> {
  for (const [path, source] of files) {
    const target = join(root, path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(await realpath(source), target)
    await chmod(target, 0o755)
  }
}

/** The user of the image, by number: `runAsNonRoot` cannot judge a name. */
export const user = 65532

// Node has Mozilla's list of authorities within; the file is for whatever else asks (SSL_CERT_FILE, --use-openssl-ca).
export async function writeEtc(root: string): Promise<void> {
  await mkdir(join(root, 'etc/ssl/certs'), { recursive: true })
  const files = {
    passwd: `root:x:0:0::/:/bin/false\ndrover:x:${user}:${user}::/:/bin/false\n`,
    group: `root:x:0:\ndrover:x:${user}:\n`,
    'nsswitch.conf': 'hosts: files dns\n',
    'ssl/certs/ca-certificates.crt': `${rootCertificates.join('\n')}\n`
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'etc', name), text)
}
