/**
 * What the suite of the image needs of a machine.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'
import { pinnedPackages } from '../../build/image/debian.ts'

const COMMANDS = 'apt-get dpkg-deb gzip tar getcap chroot capsh nsenter unshare mount'.split(' ')

/**
 * Unpacks an image of one platform as a container engine does, into `FOLDER/root`.
 * @returns that folder, and the configuration of its processes
 */
export function unpackImage(archive: Uint8Array, folder: string): UnpackedImage {
  const root = join(folder, 'root')
  for (const name of ['proc', 'dev']) mkdirSync(join(root, name), { recursive: true })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  const blob = (digest: string) => join(folder, 'blobs', digest.replace(':', '/'))
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const manifest = read(blob(read(join(folder, 'index.json')).manifests[0].digest))
  for (const { digest } of manifest.layers) {
    const options = ['--xattrs', '--xattrs-include=security.capability']
    execFileSync('tar', [...options, '-xpzf', blob(digest), '-C', root])
  }
  return { root, config: read(blob(manifest.config.digest)).config }
}

/** An unpacked image. */
export type UnpackedImage = {
  readonly root: string
  readonly config: Readonly<Record<'Entrypoint' | 'Env', readonly string[]> & { User: string }>
}

/** Returns why the image cannot be built and run here, or undefined if it can. */
export function probeTools(architecture = 'amd64'): string | undefined {
  if (process.arch !== 'x64' || process.platform !== 'linux') return 'needs Linux on x64'
  if (process.getuid?.() !== 0) return 'chroot needs root'
  const isMissing = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0
  const missing = COMMANDS.filter(isMissing)
  if (missing.length > 0) return `missing: ${missing.join(', ')}`
  return hasPackages(architecture) || hasNetwork()
    ? undefined
    : 'no network, and Debian packages not in the cache'
}

function hasPackages(architecture: string): boolean {
  return Object.entries(pinnedPackages('node')).every(([name, { version }]) =>
    existsSync(
      join(cacheFolder('image'), `${name}_${version.replace(':', '%3a')}_${architecture}.deb`),
    ),
  )
}

/** Asks apt for the index of its sources, which changes nothing. */
function hasNetwork(): boolean {
  return spawnSync('apt-get', ['-qq', 'download', '--print-uris', 'libc6']).status === 0
}
