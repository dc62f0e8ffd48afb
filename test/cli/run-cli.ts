/**
 * Runs command lines in this process, as a shell would, and keeps what they write.
 * @module
 */
import { Writable } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { main } from '../../src/cli/main.ts'
import type { Output } from '../../src/server/node/output.ts'
import { within } from '../server/clients.ts'

/** What a command wrote, and its exit status. */
export type Ran = { readonly status: number; readonly stdout: string; readonly stderr: string }

/** The variables that commands run with: who answers is not this machine. */
export const ENVIRONMENT: Readonly<Record<string, string>> = { LOCAL_IPS: '192.0.2.53' }

/** The streams of a command that runs. */
export class Screen implements Output {
  /** What was written so far. */
  readonly text = { stdout: '', stderr: '' }
  readonly stdout: Writable = this.stream('stdout')
  readonly stderr: Writable = this.stream('stderr')
  private readonly waiting = new Set<() => void>()

  /** Resolves with the match when a stream shows it; rejects when it never does. */
  async shows(name: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve } = Promise.withResolvers<RegExpExecArray>()
    const look = (): void => {
      const found = pattern.exec(this.text[name])
      if (found === null) return
      this.waiting.delete(look)
      resolve(found)
    }
    this.waiting.add(look)
    look()
    return within(promise, `${pattern} on ${name}`)
  }

  private stream(name: 'stdout' | 'stderr'): Writable {
    return new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        this.text[name] += String(chunk)
        for (const look of this.waiting) look()
        done()
      },
    })
  }
}

/** Runs a command line to its end. What `--ca` or KUBEDOH_CA trusts ends with it. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const screen = new Screen()
  const trusted =
    args.includes('--ca') || 'KUBEDOH_CA' in environment ? getCACertificates('default') : undefined
  try {
    const status = await main(args, screen, { ...ENVIRONMENT, ...environment })
    return { status, ...screen.text }
  } finally {
    if (trusted !== undefined) setDefaultCACertificates(trusted)
  }
}

/** What a command that fails writes: its line, or its lines, and nothing else. */
export function failed(...lines: readonly string[]): Ran {
  return { status: 1, stdout: '', stderr: lines.map((line) => `${line}\n`).join('') }
}
