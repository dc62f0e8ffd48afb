/**
 * Runtimes other than Node, which run our programs as they are; got from npm when they are asked
 * for first.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../build/cache-folder.ts'
import { BUN_LOCK } from '../build/image/runtime.ts'

const { packages } = JSON.parse(readFileSync(BUN_LOCK, 'utf8'))
/** What npm calls Bun at the version that the image has. */
export const BUN_PACKAGE: string = `bun@${packages['node_modules/@oven/bun-linux-x64'].version}`
const DENO_PACKAGE = 'deno@2.9.6'
const FOLDER = cacheFolder(`${BUN_PACKAGE}-${DENO_PACKAGE}`)

/** A runtime, what npm calls it, and how it runs a program. */
export type OtherRuntime = {
  readonly name: string
  readonly npm: string
  readonly command: string
  /** What stands before the program's path. */
  readonly args: readonly string[]
}

/** Bun, whose own HTTP server we use there. */
export const BUN: OtherRuntime = {
  name: 'Bun',
  npm: BUN_PACKAGE,
  command: join(FOLDER, 'node_modules/.bin/bun'),
  args: [],
}

/** Deno, where we use Node's modules. */
export const DENO: OtherRuntime = {
  name: 'Deno',
  npm: DENO_PACKAGE,
  command: join(FOLDER, 'node_modules/.bin/deno'),
  args: ['run', '-A', '--node-modules-dir=manual'],
}

/** Finds a runtime or gets it. @returns why it is not there, or false */
export function missingRuntime({ npm, command }: OtherRuntime): string | false {
  if (!existsSync(command)) {
    process.stderr.write(`installing ${npm}\n`)
    mkdirSync(FOLDER, { recursive: true })
    const args = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', FOLDER]
    // Those that are not named would be taken away.
    spawnSync('npm', [...args, BUN.npm, DENO.npm], { timeout: 120_000 })
  }
  return existsSync(command) ? false : `${npm} cannot be had from npm`
}
