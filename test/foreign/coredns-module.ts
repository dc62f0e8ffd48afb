/**
 * CoreDNS's Go module, from which suites read its READMEs and the tables of its tests as they are.
 * Nothing of it is copied into this repository.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COREDNS } from '../real-cluster/binaries.ts'
import { goModuleFolder } from './go-module.ts'

/** An input of a setup test of CoreDNS's. */
export type SetupCase = {
  /** Below the module's folder. */
  readonly file: string
  readonly line: number
  /** Folder of the plugin. */
  readonly plugin: string
  readonly input: string
  readonly shouldErr: boolean
}

/** A Corefile in a plugin's README. */
export type ReadmeBlock = {
  readonly plugin: string
  readonly line: number
  readonly corefile: string
}

const TABLES = join(import.meta.dirname, 'tables.go')
const FENCED = /^(?:~~~|```) corefile\n([\s\S]*?)^(?:~~~|```)$/gm

/** Returns the folder of the module. @throws when there is no Go */
export function coreDnsFolder(): string {
  return goModuleFolder(`github.com/coredns/coredns@v${COREDNS}`)
}

/** Reads the tables of all setup tests. */
export function readSetupCases(folder: string): SetupCase[] {
  const options = { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const
  const lines = execFileSync('go', ['run', TABLES, folder], options).trim().split('\n')
  return lines.map((line): SetupCase => JSON.parse(line))
}

/** Reads the Corefiles of all READMEs that CoreDNS's own test starts. */
export function readReadmeBlocks(folder: string): ReadmeBlock[] {
  return readdirSync(join(folder, 'plugin'), { withFileTypes: true })
    .filter(({ name }) => existsSync(join(folder, 'plugin', name, 'README.md')))
    .flatMap(({ name: plugin }) => {
      const text = readFileSync(join(folder, 'plugin', plugin, 'README.md'), 'utf8')
      return [...text.matchAll(FENCED)].map(({ index, 1: corefile = '' }) => ({
        plugin,
        line: text.slice(0, index).split('\n').length,
        corefile,
      }))
    })
}
