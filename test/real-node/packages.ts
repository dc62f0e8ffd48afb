/**
 * What the node runs beside Go programs: containerd, runc and CNI plugins of Debian's packages,
 * unpacked into the user's cache, not installed.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findMissing } from '../clients/programs.ts'
import { unpackPackages } from '../debian-packages.ts'

const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins', 'musl-dev']
const COMMANDS = 'apt-get dpkg-deb gcc ip iptables nsenter openssl setpriv unshare'.split(' ')

/** Returns why a node cannot run on this machine, or undefined if it can. */
export function probeMachine(): string | undefined {
  if (process.arch !== 'x64' || process.platform !== 'linux') return 'needs Linux on x64'
  if (process.getuid?.() !== 0) return 'namespaces and containers need root'
  for (const command of COMMANDS) {
    const missing = findMissing(command)
    if (missing !== undefined) return missing
  }
  if (!existsSync('/sys/fs/cgroup/memory/cgroup.procs')) {
    return 'needs cgroup v1 with a memory controller that this process may use'
  }
  if (
    spawnSync('unshare', ['--mount', '--net', '--pid', '--cgroup', '--fork', 'true']).status !== 0
  )
    return 'this process may not create namespaces'
  return undefined
}

/**
 * Unpacks the packages into the cache, or finds them there.
 * @returns the folder, which has `usr/bin`, `usr/sbin` and `usr/lib/cni`
 * @throws {Error} when apt cannot download a package
 */
export function prepareDebian(): string {
  return unpackPackages('node-debian', PACKAGES)
}
