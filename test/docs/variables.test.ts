/**
 * docs/gateway-variables.md and docs/environment.md have every variable of the code, and no other.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FLAGS } from '../../src/cli/flags/flags.ts'
import { GATEWAY_VARIABLES, readGatewayConfig } from '../../src/gateway/config/config.ts'
import { codes, filesBelow, read, section, tableRows } from './pages.ts'

const GATEWAY = read('docs/gateway-variables.md')
const ENVIRONMENT = read('docs/environment.md')

function names(page: string, heading: string): readonly string[] {
  return tableRows(section(page, heading)).map(([cell = '']) => codes(cell)[0] ?? '')
}

function sorted(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].sort()
}

/** Returns the variables of the process that the files read. */
function readBy(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => {
    const text = read(file)
    const direct = [...text.matchAll(/process\.env\.([A-Z_]+)\b(?! = )/g)].map(
      ([, name = '']) => name,
    )
    const taken = [...text.matchAll(/\{ ([^{}]+) \} = process\.env\b/g)].flatMap(([, list = '']) =>
      [...list.matchAll(/[A-Z_]{3,}/g)].map(([name]) => name),
    )
    return [...direct, ...taken]
  })
}

describe('docs/gateway-variables.md', () => {
  const bindings = /^(?: {4}readonly |\t)([A-Z0-9_]+)\??: (\w+)/gm
  const files = ['worker/env.ts', 'worker-configuration.d.ts']
  const env = files.flatMap((file) => [...read(file).matchAll(bindings)])
  const isVariable = (type: string): boolean => type === 'string'

  test('has the variables', () => {
    const own = env.filter(([, , type = '']) => isVariable(type)).map(([, name = '']) => name)
    assert.deepEqual(
      sorted(names(GATEWAY, '## Variables')),
      sorted(['COREFILE', ...GATEWAY_VARIABLES, ...own]),
    )
  })

  test('has the bindings', () => {
    const own = env.filter(([, , type = '']) => !isVariable(type)).map(([, name = '']) => name)
    assert.deepEqual(sorted(names(GATEWAY, '## Bindings of a Worker')), sorted(own))
  })

  test('has the defaults of the code, which wrangler.toml repeats', async () => {
    const rows = new Map(
      tableRows(section(GATEWAY, '## Variables')).map(([name = '', value = '']) => [
        codes(name)[0] ?? '',
        codes(value)[0] ?? '',
      ]),
    )
    const config = await readGatewayConfig({ COREFILE: '. {\n  whoami\n}\n' })
    assert.equal(rows.get('STALE_SECONDS'), String(config.times.staleMs / 1000))
    assert.equal(rows.get('EXPIRE_SECONDS'), String(config.times.expireMs / 1000))
    assert.equal(rows.get('REQUESTS_PER_MINUTE'), String(config.requestsPerMinute))
    assert.equal(rows.get('PUBLIC'), String(config.access.isPublic))
    assert.equal(config.clusters.size, 0)
    const [, vars = ''] = /\[vars\]\n([\s\S]*?)\n\[\[/.exec(read('wrangler.toml')) ?? []
    const set = [...vars.matchAll(/^([A-Z][A-Z0-9_]*) = "([^"\n]*)"$/gm)]
    assert.ok(set.length >= 10)
    for (const [, name = '', value] of set) assert.equal(value, rows.get(name) ?? '', name)
  })
})

describe('docs/environment.md', () => {
  const sources = ['src', 'demo', 'worker'].flatMap((folder) => filesBelow(folder, '.ts'))
  const ofFlags = Object.values(FLAGS).flatMap(({ env }) => env ?? [])

  test('has the variables of the programs', () => {
    const asked = sources.flatMap((file) => {
      const text = read(file)
      const literal = [...text.matchAll(/\.env\('([A-Z0-9_]+)'/g)].map(([, name = '']) => name)
      const constant = [...text.matchAll(/const [A-Z_]+_VARIABLE = '([A-Z_]+)'/g)]
      return [...literal, ...constant.map(([, name = '']) => name)]
    })
    const launcher = [...read('bin/kubedoh').matchAll(/\$\{([A-Z_]+):-/g)]
    const launched = new Set(launcher.map(([, name = '']) => name))
    // Read by the library of Kubernetes, not by us.
    const foreign = ['KUBECONFIG']
    assert.deepEqual(
      sorted(names(ENVIRONMENT, '## kubedoh')),
      sorted([...asked, ...ofFlags, ...readBy(sources), ...launched, ...foreign]),
    )
  })

  test('has the variables of the tests, the benchmarks and the build', () => {
    const files = ['bench', 'build', 'test']
      .flatMap((top) => filesBelow(top, '.ts'))
      .filter((file) => !file.startsWith('test/docs/'))
    const listed = names(ENVIRONMENT, '## Tests, benchmarks and the build')
    const elsewhere = [...names(ENVIRONMENT, '## kubedoh'), 'PATH']
    const own = readBy(files).filter((name) => listed.includes(name) || !elsewhere.includes(name))
    assert.deepEqual(sorted(listed), sorted(own))
  })
})
