/**
 * The shared libraries that Node needs, and the programs of image variants, from Debian's packages
 * at the versions and checksums that `debian.json` pins.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { TarEntry } from './tar.ts'

const PINS = join(import.meta.dirname, 'debian.json')
/** Of no use without a shell, man or other locales. Copyright files stay. */
const EXCLUDED = ['*/gconv/*', '*/share/gcc/*', '*/share/gdb/*', '*/share/lintian/*']
const EXCLUDED_DOCS = ['*/changelog*', '*/NEWS*', '*/README*', '*/TODO*', '*/FAQ*', '*/locale/*']

/** A variant of the image: '' has what Node needs, `node` also what `kubedoh node-cache` runs. */
export type Variant = '' | 'node'

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
  cache: string,
): TarEntry[] {
  const pins = Object.entries(pinnedPackages(variant))
  const files = pins.map(([name, pin]) => ({
    name,
    pin,
    path: debPath(cache, name, { pin, architecture }),
  }))
  if (files.some(({ path }) => !existsSync(path))) refreshLists(architecture, cache)
  return files.map(({ name, pin, path }) => {
    const folders = { cache, into: cache }
    if (!existsSync(path)) download([`${name}=${pin.version}`], architecture, folders)
    const sum = checksum(path)
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
 * @throws {Error} when apt cannot download a package
 */
export function pinNewest(architectures: readonly string[], cache: string): void {
  const old = allPins()
  const names = Object.keys(old)
  const pins = new Map<string, Pin & { sha256: Record<string, string> }>()
  for (const architecture of architectures) {
    refreshLists(architecture, cache)
    const fresh = mkdtempSync(join(cache, 'pin-'))
    download(names, architecture, { cache, into: fresh })
    for (const name of names) {
      const file = readdirSync(fresh).find((one) => one.startsWith(`${name}_`))
      if (file === undefined) throw new Error(`apt downloaded no ${name}`)
      renameSync(join(fresh, file), join(cache, file))
      const path = join(cache, file)
      const version = execFileSync('dpkg-deb', ['-f', path, 'Version'], { encoding: 'utf8' }).trim()
      const pin = pins.get(name) ?? { ...old[name], version, sha256: {} }
      if (pin.version !== version) throw new Error(`${name} is ${pin.version} and ${version}`)
      pin.sha256[architecture] = checksum(path)
      pins.set(name, pin)
    }
    rmSync(fresh, { recursive: true })
  }
  writeFileSync(PINS, `${JSON.stringify(Object.fromEntries(pins), undefined, 2)}\n`)
}

/** Where apt keeps its lists, and where it puts what it downloads. */
type Folders = { readonly cache: string; readonly into: string }

/** Fetches apt's lists of an architecture, which need not be this machine's, into the cache. */
function refreshLists(architecture: string, cache: string): void {
  mkdirSync(join(cache, `lists-${architecture}`, 'partial'), { recursive: true })
  apt(['update'], architecture, { cache, into: cache })
}

function download(packages: readonly string[], architecture: string, folders: Folders): void {
  const problem = apt(['download', ...packages], architecture, folders)
  if (problem === '') return
  const hint = 'to pin the newest versions: npm run image -- --pin'
  throw new Error(
    `apt cannot download ${packages.join(' ')} (${architecture}); ${hint}\n${problem}`,
  )
}

/** Runs apt-get. @returns why it failed, empty if it did not */
function apt(args: readonly string[], architecture: string, { cache, into }: Folders): string {
  const options = [
    '-qq',
    `-oAPT::Architecture=${architecture}`,
    `-oAPT::Architectures=${architecture}`,
    `-oDir::State::Lists=${join(cache, `lists-${architecture}`)}`,
    '-oDir::Cache::pkgcache=',
    '-oDir::Cache::srcpkgcache=',
    '-oAPT::Sandbox::User=',
  ]
  const result = spawnSync('apt-get', [...options, ...args], { cwd: into, encoding: 'utf8' })
  if (result.status === 0) return ''
  return result.error === undefined ? result.stderr : result.error.message
}

function debPath(
  cache: string,
  name: string,
  { pin, architecture }: { pin: Pin; architecture: string },
): string {
  return join(cache, `${name}_${pin.version.replace(':', '%3a')}_${architecture}.deb`)
}

function checksum(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
