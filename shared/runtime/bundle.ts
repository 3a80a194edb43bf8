import { existsSync } from 'node:fs'
import { glob, mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { rolldown, type Plugin } from 'rolldown'
import { leanHttp } from './lean-http.ts'
import { warm } from './warm.ts'

const notBundled = join(import.meta.dirname, 'not-bundled.ts')
const alias = {
  // client-node's config.js takes it for createDispatcher() alone; shared/kube has its own requests on node:https.
  undici: notBundled,
  // fastify's compilers of route schemas, which http-edge.ts replaces, its HTTP/2 and its injection for tests.
  'node:http2': notBundled,
  '@fastify/ajv-compiler': notBundled,
  '@fastify/fast-json-stringify-compiler': notBundled,
  'light-my-request': notBundled
}
// client-node does not say that its modules may be left out. All but KubeConfig can be, of 60 MB of sources.
const moduleSideEffects = [{ test: /client-node\/dist\/(?!polyfill)|openid-client|oauth4webapi/, sideEffects: false }]

/** One letter beyond Latin-1 doubles the memory of the whole text: V8 keeps it in two bytes a letter then. All of them stand in literals. */
const plainLetters: Plugin = {
  name: 'plain-letters',
  generateBundle(_, files) {
    for (const file of Object.values(files))
      if (file.type === 'chunk')
        file.code = file.code.replaceAll(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  }
}

/** What a function or agent is called in a pod's `args`: a folder may be in functions/ and in agents/. */
export function programName(entry: string): string {
  const folder = dirname(entry)
  return basename(dirname(folder)) === 'agents' ? `${basename(folder)}-agent` : basename(folder)
}

/** `<name>.js` and the folder `<name>` of one function or agent, with all they need of node_modules; gives the path of the first. */
export async function bundle(entry: string, outDir: string): Promise<string> {
  const name = programName(entry)
  const build = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [leanHttp, plainLetters],
    resolve: { alias, conditionNames: ['drover', 'node'] },
    treeshake: { moduleSideEffects },
    onLog(level, log, report) {
      if (log.code !== 'EVAL') report(level, log) // in dependencies, where it is meant
    }
  })
  await build.write({
    dir: outDir,
    format: 'esm',
    // What is loaded after the port is open stays in files of its own: in one file it would be wrapped, and read before.
    entryFileNames: `${name}.js`,
    chunkFileNames: `${name}/[name].js`,
    // Node reads and hashes the whole text at each start; names stay, for the sake of stack traces.
    minify: { compress: false, mangle: false, codegen: true }
  })
  await build.close()
  await addFiles(dirname(entry), join(outDir, name))
  return join(outDir, `${name}.js`)
}

/** A function that needs more than code at run time writes it by the `bundle.ts` beside its main.ts. */
async function addFiles(source: string, folder: string): Promise<void> {
  const own = join(source, 'bundle.ts')
  if (!existsSync(own)) return
  const { default: write } = (await import(own)) as { default: (folder: string) => Promise<void> }
  await write(folder)
}

/** npm run bundle [-- NAME…]: dist/<name>.js of each function and agent, and a compile cache for all of them in dist/.cache */
async function main(): Promise<void> {
  const { positionals: names } = parseArgs({ allowPositionals: true })
  const root = join(import.meta.dirname, '../..')
  const outDir = join(root, 'dist')
  await mkdir(outDir, { recursive: true })
  for await (const entry of glob('{functions,agents}/*/main.ts', { cwd: root })) {
    if (names.length > 0 && !names.includes(programName(entry))) continue
    const file = await bundle(join(root, entry), outDir)
    await warm(file, join(outDir, '.cache'))
    console.log(file)
  }
}

if (import.meta.main) await main()
