/**
 * Programs that the suite runs: found on the machine, or installed when that is allowed.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** Debian's package of each program. */
const PACKAGES: Readonly<Record<string, string>> = {
  curl: 'curl',
  dig: 'bind9-dnsutils',
  kdig: 'knot-dnsutils',
  go: 'golang',
}

const run = promisify(execFile)

/** Tells what is missing of a program that cannot be brought; `undefined` when it is there. */
export function findMissing(program: string): string | undefined {
  if (isThere(program)) return undefined
  const name = PACKAGES[program] ?? program
  if (process.getuid?.() === 0) {
    process.stderr.write(`installing ${name}\n`)
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', name])
    if (isThere(program)) return undefined
  }
  return `${program} is missing: install ${name}`
}

/** Runs a command of a shell. @returns what it printed */
export async function shell(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', command], { timeout: 30_000 })
  return stdout
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}
