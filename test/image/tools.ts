/**
 * What the suite of the image needs of a machine.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedPackages } from '../../build/image/debian.ts'
import { cacheFolder } from '../cache-folder.ts'

const COMMANDS = ['apt-get', 'dpkg-deb', 'gzip', 'tar', 'getcap', 'chroot']

/** Returns why the image cannot be built and run here, or undefined if it can. */
export function probeTools(): string | undefined {
  if (process.arch !== 'x64' || process.platform !== 'linux') return 'needs Linux on x64'
  if (process.getuid?.() !== 0) return 'chroot needs root'
  const isMissing = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0
  const missing = COMMANDS.filter(isMissing)
  if (missing.length > 0) return `missing: ${missing.join(', ')}`
  return hasPackages() || hasNetwork()
    ? undefined
    : 'no network, and Debian packages not in the cache'
}

function hasPackages(): boolean {
  return Object.entries(pinnedPackages()).every(([name, { version }]) =>
    existsSync(join(cacheFolder('image'), `${name}_${version}_amd64.deb`)),
  )
}

/** Asks apt for the index of its sources, which changes nothing. */
function hasNetwork(): boolean {
  return spawnSync('apt-get', ['-qq', 'download', '--print-uris', 'libc6']).status === 0
}
