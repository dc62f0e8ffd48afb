/**
 * The shared libraries that Node needs, and the programs of image variants, from Debian's packages
 * at the versions and checksums that `debian.json` pins. Debian's own tools fetch and unpack them.
 *
 * No kept tool builds this image: it has the same bytes each time, without a daemon, root or a
 * container registry, from which a base image such as distroless's or `crane append` starts; apko
 * takes apk packages only. Node's file capability for port 53 is in the layer that `tar.ts` writes.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'
import type { TarEntry } from './tar.ts'

/** Keeps downloaded packages, and apt's lists for each architecture. */
const CACHE = cacheFolder('image')
const PINS = join(import.meta.dirname, 'debian.json')
/** Of no use without a shell, man or other locales. Copyright files stay. */
const EXCLUDED = ['*/gconv/*', '*/share/gcc/*', '*/share/gdb/*', '*/share/lintian/*']
const EXCLUDED_DOCS = ['*/changelog*', '*/NEWS*', '*/README*', '*/TODO*', '*/FAQ*', '*/locale/*']

/**
 * A variant of the image: '' has what Node needs, `node` also what `kubedoh node-cache` runs; `bun`
 * has Bun in place of Node, for the gateway.
 */
export type Variant = '' | 'node' | 'bun'

/** A pinned package: its version, and SHA-256 of its file by architecture. */
export type Pin = {
  readonly version: string
  readonly sha256: Readonly<Record<string, string>>
  /** The only variant of the image that has the package; all without. */
  readonly variant?: Variant
  /** Patterns of the files to unpack, beside the copyright; all without. */
  readonly only?: readonly string[]
}

/** Returns the pinned packages of a variant by name. */
export function pinnedPackages(variant: Variant): Readonly<Record<string, Pin>> {
  const pins = Object.entries(allPins())
  return Object.fromEntries(pins.filter(([, pin]) => [undefined, variant].includes(pin.variant)))
}

function allPins(): Readonly<Record<string, Pin>> {
  return JSON.parse(readFileSync(PINS, 'utf8'))
}

/**
 * Unpacks the pinned packages of an architecture into a folder, without running their scripts.
 * Downloads what the cache lacks with apt, from the sources of this machine.
 * @returns the packages' control files, where scanners look for them in images without dpkg
 * @throws {Error} when apt does not have a pinned version, or its file has another checksum
 */
export function unpackDebian(
  { architecture, variant }: { readonly architecture: string; readonly variant: Variant },
  folder: string,
): TarEntry[] {
  const packages = Object.entries(pinnedPackages(variant)).map(([name, pin]) => {
    const file = `${name}_${pin.version.replace(':', '%3a')}_${architecture}.deb`
    return { name, pin, path: join(CACHE, file) }
  })
  const missing = packages.filter(({ path }) => !existsSync(path))
  if (missing.length > 0) {
    updateLists(architecture)
    const wanted = missing.map(({ name, pin }) => `${name}=${pin.version}`)
    apt('apt-get', ['download', ...wanted], architecture)
  }
  return packages.map(({ name, pin, path }) => {
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex')
    if (sum !== pin.sha256[architecture]) throw new Error(`${path}: SHA-256 is ${sum}, not pinned`)
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', path], { maxBuffer: 256 << 20 })
    const excluded = [...EXCLUDED, ...EXCLUDED_DOCS].map((pattern) => `--exclude=${pattern}`)
    const options = ['-xp', '--no-same-owner', ...excluded, '-C', folder]
    const only = pin.only?.map((pattern) => `./${pattern}`)
    const files = only ? ['--wildcards', ...only, './usr/share/doc/*/copyright'] : []
    execFileSync('tar', [...options, ...files], { input: tar })
    const control = execFileSync('dpkg-deb', ['-f', path])
    return { path: `var/lib/dpkg/status.d/${name}`, mode: 0o644, content: control }
  })
}

/**
 * Pins the newest versions that apt has, for all given architectures.
 * @throws {Error} when apt lacks a package, or its versions differ between architectures
 */
export function pinNewest(architectures: readonly string[]): void {
  const old = allPins()
  const shown = architectures.map((architecture) => {
    updateLists(architecture)
    const args = ['show', '--no-all-versions', ...Object.keys(old)]
    return {
      architecture,
      paragraphs: apt('apt-cache', args, architecture).split('\n\n'),
    }
  })
  const pins = Object.entries(old).map(([name, pin]): [string, Pin] => {
    const found = shown.map(({ architecture, paragraphs }) => {
      const text = paragraphs.find((one) => one.startsWith(`Package: ${name}\n`)) ?? ''
      const field = (key: string) => new RegExp(`^${key}: (.+)$`, 'm').exec(text)?.[1] ?? ''
      return { architecture, version: field('Version'), sha256: field('SHA256') }
    })
    const [version = '', ...others] = new Set(found.map((one) => one.version))
    if (others.length > 0) throw new Error(`${name} is ${version} and ${others.join(', ')}`)
    const sums = found.map(({ architecture, sha256 }) => [architecture, sha256])
    return [name, { ...pin, version, sha256: Object.fromEntries(sums) }]
  })
  writeFileSync(PINS, `${JSON.stringify(Object.fromEntries(pins), undefined, 2)}\n`)
}

/** Fetches apt's lists; whether some source failed shows when a package is missing. */
function updateLists(architecture: string): void {
  mkdirSync(join(listsOf(architecture), 'partial'), { recursive: true })
  spawnSync('apt-get', [...optionsOf(architecture), 'update'])
}

/** Runs a program of apt in the cache, and returns what it prints. @throws {Error} if it fails */
function apt(program: string, args: readonly string[], architecture: string): string {
  const all = [...optionsOf(architecture), ...args]
  const { status, stdout, stderr, error } = spawnSync(program, all, {
    cwd: CACHE,
    encoding: 'utf8',
  })
  if (status === 0) return stdout
  const hint = 'to pin the newest versions: npm run image -- --pin'
  const reason = error?.message ?? stderr
  throw new Error(`${program} ${args.join(' ')} (${architecture}) failed; ${hint}\n${reason}`)
}

/** Returns options by which apt works for a processor that need not be this machine's. */
function optionsOf(architecture: string): readonly string[] {
  return [
    '-qq',
    `-oAPT::Architecture=${architecture}`,
    `-oAPT::Architectures=${architecture}`,
    `-oDir::State::Lists=${listsOf(architecture)}`,
    '-oDir::Cache::pkgcache=',
    '-oDir::Cache::srcpkgcache=',
    '-oAPT::Sandbox::User=',
  ]
}

function listsOf(architecture: string): string {
  return join(CACHE, `lists-${architecture}`)
}
