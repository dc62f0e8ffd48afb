/**
 * The recipes of docs/fronts.md: read from the page, with this machine's addresses and files, and
 * run.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { ROOT, read, section } from '../../docs/pages.ts'
import { freePort } from '../../free-port.ts'
import { type Running, start } from '../../real-cluster/processes.ts'

/** Text of a recipe, and what stands for it in the test. */
export type Replacements = Readonly<Record<string, string>>

const FILES = {
  'ca.pem': AUTHORITY,
  'dns.example.org.pem': SERVER.cert,
  'dns.example.org.key': SERVER.key,
  'dns.example.org.both.pem': SERVER.cert + SERVER.key,
}
/** How often a port is tried until its server listens, and the pause after each. */
const TRIES = 200
const PAUSE_MS = 50

/** Returns the block in a language below a heading of docs/fronts.md. */
export function recipeOf(heading: string, language: string): string {
  const below = section(read('docs/fronts.md'), `## ${heading}`)
  const [, text] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(below) ?? []
  if (text === undefined) throw new Error(`docs/fronts.md: ${heading} has no ${language}`)
  return text
}

/** Replaces each text wherever it stands. @throws {Error} if the recipe lacks one */
export function fill(recipe: string, replacements: Replacements): string {
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the recipe has no ${from}`)
    return text.replaceAll(from, to)
  }, recipe)
}

/** Returns the arguments by which nginx runs a configuration until it is stopped. */
export function nginxArgs(path: string, folder: string): readonly string[] {
  const owner = process.getuid?.() === 0 ? ' user root;' : ''
  return ['-c', path, '-e', 'stderr', '-g', `daemon off; pid ${folder}/nginx.pid;${owner}`]
}

/** A folder with certificates, and programs that end with it. */
export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'kubedoh-fronts-'))
  private readonly running: Running[] = []

  constructor() {
    for (const [name, text] of Object.entries(FILES)) this.write(name, text)
  }

  /** Writes a file. @returns its path */
  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text)
    return join(this.folder, name)
  }

  /** Starts a program, and waits until it prints a line or listens on a port. */
  async run(
    [command = '', ...args]: readonly string[],
    until: RegExp | number,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Running> {
    const one = start(command, args, { HOME: this.folder, ...environment }, this.folder)
    this.running.push(one)
    if (until instanceof RegExp) await one.line(until)
    else await listening(until, one)
    return one
  }

  /** Starts kubedoh by the commands of a recipe. @returns its port */
  async runGateway(
    heading: string,
    corefile: string,
    environment: Readonly<Record<string, string>> = {},
    replacements: Replacements = {},
  ): Promise<number> {
    const port = await freePort()
    const script = fill(recipeOf(heading, 'sh'), {
      'kubedoh gateway': `exec ${join(ROOT, 'bin/kubedoh')} gateway`,
      '--conf Corefile': `--conf ${this.write(`Corefile-${port}`, corefile)}`,
      '127.0.0.1:8787': `127.0.0.1:${port}`,
      ...replacements,
    })
    await this.run(['sh', '-c', script], /^ready/, environment)
    return port
  }

  /** Ends all and removes the files. */
  async stop(): Promise<void> {
    for (const one of this.running.toReversed()) await one.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function listening(port: number, program: Running): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isThere) return
    await sleep(PAUSE_MS)
  }
  throw new Error(`nobody listens on ${port}:\n${program.tail()}`)
}
