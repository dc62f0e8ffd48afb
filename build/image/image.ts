/**
 * `npm run image`: packs the bundle, Node and Debian's shared libraries as an OCI image archive,
 * without a container engine. The Containerfile in this folder says the same for people.
 * @module
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packagesOf } from '../licences.ts'
import { buildPackage } from '../package.ts'
import { pinNewest, pinnedPackages, unpackDebian, type Variant } from './debian.ts'
import { type Image, type Platform, packImage } from './oci.ts'
import { prepareBun, prepareNode, type Runtime } from './runtime.ts'
import { type Component, spdxOf } from './sbom.ts'
import { entriesOf, NET_BIND_SERVICE, type TarEntry } from './tar.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Architectures with a Node of their own on npm. */
export const ARCHITECTURES: readonly string[] = ['amd64', 'arm64']
/** All variants of the image. */
export const VARIANTS: readonly Variant[] = ['', 'node', 'bun']
const USER = 65532
const PASSWD = `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${USER}:${USER}:nonroot:/:/sbin/nologin\n`
const GROUP = `root:x:0:\nnonroot:x:${USER}:\n`

const SHELL_PATH = 'PATH=/usr/local/bin:/usr/sbin:/sbin:/bin'
/** Debian's alternatives, which a script of the package would choose. */
const IPTABLES: readonly TarEntry[] = ['iptables', 'ip6tables'].flatMap((name) =>
  [name, `${name}-restore`].map((path) => ({
    path: `usr/sbin/${path}`,
    mode: 0o777,
    link: 'xtables-nft-multi',
  })),
)

/** An image, the bill of materials of each architecture, and those whose runtime has symbols. */
export type BuiltImage = Image & {
  readonly sboms: ReadonlyMap<string, string>
  readonly withSymbols: readonly string[]
}

/**
 * Builds the image for some of {@link ARCHITECTURES}. The same sources, packages and tools give the
 * same digest; SOURCE_DATE_EPOCH sets the time of creation (default 0).
 * @throws {Error} when a package cannot be downloaded, or has another checksum than the pinned one
 */
export async function buildImage(
  architectures: readonly string[],
  variant: Variant = '',
): Promise<BuiltImage> {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-image-'))
  try {
    const created = Number(process.env.SOURCE_DATE_EPOCH ?? 0)
    const modules = await buildPackage(join(scratch, 'app'))
    const sboms = new Map<string, string>()
    const withSymbols: string[] = []
    const prepare = variant === 'bun' ? prepareBun : prepareNode
    const platforms = architectures.map((architecture): Platform => {
      const root = join(scratch, architecture)
      mkdirSync(root)
      const controls = unpackDebian({ architecture, variant }, root)
      const runtime = prepare(architecture, scratch)
      const components = componentsOf({ architecture, variant, runtime, modules })
      const sbom = spdxOf(components, new Date(created * 1000).toISOString().replace('.000', ''))
      sboms.set(architecture, sbom)
      if (runtime.hasSymbols) withSymbols.push(architecture)
      const links = variant === 'node' ? IPTABLES : []
      const system = [...controls, ...runtimeEntries(runtime), ...systemEntries(), ...links]
      const base = [...entriesOf(root), ...system]
      return { architecture, layers: [base, appEntries(join(scratch, 'app'), sbom)] }
    })
    return { ...packImage(platforms, { ...imageConfig(variant), created }), sboms, withSymbols }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function suffixOf(variant: Variant): string {
  return variant === '' ? '' : `-${variant}`
}

type Manifest = Readonly<Record<'version' | 'description' | 'license', string>> & {
  readonly repository?: { readonly url: string }
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
}

function imageConfig(variant: Variant) {
  const { version, description, license, repository } = manifest()
  const label = (name: string, value: string) =>
    [`org.opencontainers.image.${name}`, value] as const
  return {
    name: `localhost/kubedoh:${version}${suffixOf(variant)}`,
    config: {
      User: `${USER}:${USER}`,
      Entrypoint: [`/usr/local/bin/${variant === 'bun' ? 'bun' : 'node'}`, '/app/entry.js'],
      Env: [variant === 'node' ? SHELL_PATH : 'PATH=/usr/local/bin', 'NODE_ENV=production'],
      WorkingDir: '/',
      ExposedPorts: { '53/udp': {}, '53/tcp': {} },
      Labels: Object.fromEntries([
        label('title', 'kubedoh'),
        label('description', description),
        label('version', version),
        label('licenses', license),
        ...(repository === undefined ? [] : [label('source', repository.url)]),
      ]),
    },
  }
}

/** What programs expect on every system. */
function systemEntries(): TarEntry[] {
  const file = (path: string, text: string) => ({ path, mode: 0o644, content: Buffer.from(text) })
  return [
    { path: 'tmp', mode: 0o1777 },
    file('etc/passwd', PASSWD),
    file('etc/group', GROUP),
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    file('etc/os-release', 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="kubedoh on Debian 12"\n'),
  ]
}

function runtimeEntries({ name, binary, licence }: Runtime): TarEntry[] {
  const path = `usr/local/bin/${name}`
  return [
    { path, mode: 0o755, content: binary, capability: NET_BIND_SERVICE },
    { path: `usr/local/share/doc/${name}/LICENSE`, mode: 0o644, content: licence },
  ]
}

function appEntries(folder: string, sbom: string): TarEntry[] {
  const copied = ['package.json', 'LICENSE'].map((name) => ({
    path: `app/${name}`,
    mode: 0o644,
    content: readFileSync(join(ROOT, name)),
  }))
  return [
    { path: 'app', mode: 0o755 },
    ...entriesOf(folder, 'app').map((entry) => ({ ...entry, mode: entry.content ? 0o644 : 0o755 })),
    ...copied,
    {
      path: 'app/entry.js',
      mode: 0o644,
      content: readFileSync(join(import.meta.dirname, 'entry.js')),
    },
    { path: 'app/sbom.spdx.json', mode: 0o644, content: Buffer.from(sbom) },
  ]
}

type Parts = {
  readonly architecture: string
  readonly variant: Variant
  readonly runtime: Runtime
  readonly modules: readonly string[]
}

function componentsOf({ architecture, variant, runtime, modules }: Parts): Component[] {
  const { version, license } = manifest()
  const debian = Object.entries(pinnedPackages(variant)).map(([name, pin]) => ({
    purl: `pkg:deb/debian/${encodeURIComponent(name)}?arch=${architecture}&distro=debian-12`,
    version: pin.version,
    license: 'NOASSERTION',
    sha256: pin.sha256[architecture] ?? '',
  }))
  const npm = packagesOf(ROOT, modules).map((one) => ({
    purl: `pkg:npm/${one.name.replace('@', '%40')}`,
    version: one.version,
    license: one.license ?? 'NOASSERTION',
  }))
  const own = {
    purl: `pkg:generic/${runtime.name}`,
    version: runtime.version,
    license: runtime.spdx,
  }
  return [{ purl: 'pkg:npm/kubedoh', version, license }, own, ...debian, ...npm]
}

async function main(): Promise<void> {
  const host = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: host },
      out: { type: 'string', default: join(ROOT, '.cache/image') },
      variant: { type: 'string', default: '' },
      pin: { type: 'boolean', default: false },
    },
  })
  const architectures = values.arch.split(',')
  const unknown = architectures.find((one) => !ARCHITECTURES.includes(one))
  if (unknown !== undefined)
    throw new Error(`no architecture "${unknown}": ${ARCHITECTURES.join(', ')}`)
  const variant = VARIANTS.find((one) => one === values.variant)
  if (variant === undefined)
    throw new Error(`no variant "${values.variant}": ${VARIANTS.slice(1).join(', ')}`)
  if (values.pin) return pinNewest(ARCHITECTURES)
  const { archive, digest, size, sboms, withSymbols } = await buildImage(architectures, variant)
  mkdirSync(values.out, { recursive: true })
  const path = join(
    values.out,
    `kubedoh-${manifest().version}${suffixOf(variant)}-${architectures.join('-')}.tar`,
  )
  writeFileSync(path, archive)
  for (const [architecture, text] of sboms) {
    writeFileSync(path.replace(/\.tar$/, `.${architecture}.spdx.json`), text)
    if (!withSymbols.includes(architecture)) continue
    process.stderr.write(`Node (${architecture}) has its symbols: install binutils or llvm\n`)
  }
  process.stdout.write(`${path}\n${digest}\n${(size / 1e6).toFixed(1)} MB compressed\n`)
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    process.stderr.write(`image: ${error.message}\n`)
    process.exitCode = 1
  })
}
