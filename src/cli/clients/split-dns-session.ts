/**
 * Changes the system's resolver, and undoes the changes: at the end, or after a crash at the next
 * start, by a file that says what was set.
 * @module
 */
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { errorCode, isRecord } from '../../dns/bytes/unknown.ts'
import { CommandError } from '../../server/node/output.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'
import { formatSteps, OWN_FILE_MARKER, planSplit, type Split, type SplitStep } from './split-dns.ts'

const execute = promisify(execFile)
const COMMAND_MS = 20_000

/** The changes of one run, recorded in a file. */
export class SplitDnsSession {
  private readonly path: string

  /** @param path the file that records what was set; its folder must exist */
  constructor(path: string) {
    this.path = path
  }

  /**
   * Undoes what an earlier run has left. Returns whether there was such a run.
   * @throws {CommandError} when that run still lives, or its record is unreadable
   */
  async recover(): Promise<boolean> {
    const record = this.read()
    if (record === undefined) return false
    if (record.pid !== process.pid && isAlive(record.pid)) {
      throw new CommandError(
        `kubedoh connect runs already, as process ${record.pid}; stop it first ` +
          `(remove ${this.path} if that is another program)`,
      )
    }
    // Steps fail where the earlier run had not set anything yet.
    await this.undo(record.split)
    return true
  }

  /**
   * Changes the system. Records the changes first, so that a crash in between leaves nothing.
   * @throws {CommandError} when a step fails; the steps before it are undone
   */
  async set(split: Split): Promise<void> {
    await this.write(split)
    for (const step of planSplit(split).set) {
      const reason = await apply(step)
      if (reason === undefined) continue
      await this.undo(split)
      throw new CommandError(`Cannot set up split DNS: ${describe(step)}: ${reason}`)
    }
  }

  /** Undoes the changes, and forgets them. Returns a line for each step that failed. */
  async undo(split: Split): Promise<readonly string[]> {
    const failures: string[] = []
    for (const step of planSplit(split).undo) {
      const reason = await apply(step)
      if (reason !== undefined) failures.push(`${describe(step)}: ${reason}`)
    }
    rmSync(this.path, { force: true })
    return failures
  }

  private async write(split: Split): Promise<void> {
    try {
      await writeWholeFile(this.path, JSON.stringify({ pid: process.pid, split }))
    } catch (error) {
      const hint = process.getuid?.() === 0 ? '' : '; run as root, or pass --system none'
      throw new CommandError(`Cannot write ${this.path}: ${errorCode(error)}${hint}`, {
        cause: error,
      })
    }
  }

  private read(): { readonly pid: number; readonly split: Split } | undefined {
    try {
      const record: unknown = JSON.parse(readFileSync(this.path, 'utf8'))
      if (isRecord(record) && typeof record.pid === 'number' && isSplit(record.split)) {
        return { pid: record.pid, split: record.split }
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
    }
    throw new CommandError(`${this.path} is no record of kubedoh connect; remove it`)
  }
}

/** Returns whether a value is a split; its texts become arguments, so they are checked. */
function isSplit(value: unknown): value is Split {
  if (!isRecord(value)) return false
  const { system, domains, address, port } = value
  return (
    typeof system === 'string' &&
    /^(linux|macos|windows|none)$/.test(system) &&
    Array.isArray(domains) &&
    domains.every((domain) => typeof domain === 'string' && DOMAIN.test(domain)) &&
    typeof address === 'string' &&
    /^[\d.a-f:]+$/.test(address) &&
    Number.isInteger(port)
  )
}

/** A domain of letters, digits, hyphens and underscores, without a final dot. */
export const DOMAIN: RegExp =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Applies a step. Returns the reason of a failure. */
async function apply(step: SplitStep): Promise<string | undefined> {
  try {
    if (step.kind === 'run') {
      const [program, ...args] = step.command
      await execute(program, args, { timeout: COMMAND_MS })
    } else if (step.kind === 'write') {
      writeFileSync(step.path, step.text, { flag: 'wx', mode: 0o644 })
    } else if (readFileSync(step.path, 'utf8').startsWith(OWN_FILE_MARKER)) rmSync(step.path)
    return undefined
  } catch (error) {
    return reasonOf(error, step)
  }
}

function reasonOf(error: unknown, step: SplitStep): string {
  const code = errorCode(error)
  if (step.kind === 'run' && code === 'ENOENT') {
    return `no such program; pass --system none and configure your resolver yourself`
  }
  if (code === 'EEXIST') return 'the file exists and is not ours; remove it first'
  const hint = process.getuid?.() === 0 ? '' : '; run as root'
  const stderr = isRecord(error) && typeof error.stderr === 'string' ? error.stderr : ''
  const [line = ''] = stderr.trim().split('\n')
  return `${line === '' ? code : line}${hint}`
}

function describe(step: SplitStep): string {
  return step.kind === 'run' ? formatSteps([step]).trimEnd() : step.path
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
