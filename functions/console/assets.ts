// What the browser loads: our own modules without their types, and the libraries as they are, all from this server alone.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

export interface Asset {
  type: string
  body: Buffer
  etag: string
}

const client = join(import.meta.dirname, 'client')
const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml'
}

/** Names that the browser's modules import, and the files behind them. */
const libraries: Record<string, [pkg: string, file: string]> = {
  preact: ['preact', 'dist/preact.mjs'],
  'preact/hooks': ['preact', 'hooks/dist/hooks.mjs'],
  '@preact/signals-core': ['@preact/signals-core', 'dist/signals-core.mjs'],
  '@preact/signals': ['@preact/signals', 'dist/signals.mjs'],
  htm: ['htm', 'dist/htm.mjs']
}
const libraryPath = (name: string): string => `/lib/${name.replaceAll(/[^a-z-]/g, '_')}.js`

const asset = (extension: string, body: Buffer): Asset => ({
  type: types[extension] ?? 'application/octet-stream',
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
})

/** Where npm put a package. Asked by folder: what the libraries export to Node is not what a browser takes. */
function packageFolder(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const found = folders.map(folder => join(folder, name)).find(folder => existsSync(folder))
  if (found === undefined) throw new Error(`${name} is not installed: npm ci`)
  return found
}

async function library([pkg, file]: [string, string]): Promise<Asset> {
  const text = await readFile(join(packageFolder(pkg), file), 'utf8')
  return asset('js', Buffer.from(text.replace(/\n\/\/# sourceMappingURL=.*/, '')))
}

async function module(path: string): Promise<Asset> {
  const text = stripTypeScriptTypes(await readFile(path, 'utf8')).replaceAll(/(from '[^']+)\.ts'/g, "$1.js'")
  return asset('js', Buffer.from(text.replaceAll(/[ \t]+$/gm, '')))
}

const importMap = JSON.stringify({ imports: Object.fromEntries(Object.keys(libraries).map(name => [name, libraryPath(name)])) })

/** The only script in the page itself, so that the policy can name it and forbid all others. */
export const importMapHash = `sha256-${createHash('sha256').update(importMap).digest('base64')}`

async function fromSources(): Promise<Map<string, Asset>> {
  const assets = new Map<string, Asset>()
  for (const [name, place] of Object.entries(libraries)) assets.set(libraryPath(name), await library(place))
  for (const file of await readdir(client)) {
    const path = join(client, file)
    if (file.endsWith('.ts')) assets.set(`/${file.replace(/\.ts$/, '.js')}`, await module(path))
    else if (file === 'index.html') {
      const html = (await readFile(path, 'utf8')).replace('<!-- import map -->', `<script type="importmap">${importMap}</script>`)
      assets.set('/', asset('html', Buffer.from(html)))
    } else if (/\.(css|svg)$/.test(file)) assets.set(`/${file}`, asset(file.split('.').at(-1) ?? '', await readFile(path)))
  }
  return assets
}

/** Beside the bundle, where neither sources nor libraries are. */
const packed = join(import.meta.dirname, 'assets.json')

async function fromPack(): Promise<Map<string, Asset>> {
  const entries = JSON.parse(await readFile(packed, 'utf8')) as Array<[path: string, extension: string, base64: string]>
  return new Map(entries.map(([path, extension, base64]) => [path, asset(extension, Buffer.from(base64, 'base64'))]))
}

/** For the bundle of this function: everything the browser loads, in one file of the folder. */
export async function pack(folder: string): Promise<void> {
  const extensionOf = (path: string) => (path === '/' ? 'html' : path.split('.').at(-1))
  const entries = [...(await fromSources())].map(([path, { body }]) => [path, extensionOf(path), body.toString('base64')])
  await writeFile(join(folder, 'assets.json'), JSON.stringify(entries))
}

let loading: Promise<Map<string, Asset>> | undefined
export const loadAssets = (): Promise<Map<string, Asset>> => (loading ??= existsSync(packed) ? fromPack() : fromSources())
