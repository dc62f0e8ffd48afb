import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { GatewayConfigError } from '../../../src/gateway/config/config.ts'
import { readVariableFiles } from '../../../src/gateway/config/variable-files.ts'

describe('readVariableFiles', () => {
  const files = readVariableFiles({
    COREFILE: '. {\n}\n',
    FILES: { '/zones/db.a.test': 'a', 'custom/more.override': 'log' },
    FILES_ZONES: '{"zones/db.b.test": "b", "zones/sub/db.c.test": "c"}',
    FILES_NONE: '',
    UPSTREAM: 'https://dns.test/dns-query',
    CLUSTER: {},
  })

  const paths: { path: string; text: string | undefined }[] = [
    { path: '/zones/db.a.test', text: 'a' },
    { path: 'zones/db.a.test', text: 'a' },
    { path: './zones/x/../db.b.test', text: 'b' },
    { path: '/../zones/db.b.test', text: 'b' },
    { path: 'zones', text: undefined },
    { path: 'zones/db.d.test', text: undefined },
    { path: '', text: undefined },
  ]
  for (const { path, text } of paths) {
    test(`reads "${path}"`, async () => {
      assert.equal(files.readText(path), text)
      assert.equal(files.fileState(path)?.bytes, text?.length)
      const bytes = await files.readFile(path).catch(() => undefined)
      assert.equal(bytes && new TextDecoder().decode(bytes), text)
    })
  }

  test('lists the files below a folder, with the folder as given', async () => {
    assert.deepEqual(await files.listFiles('./zones'), [
      './zones/db.a.test',
      './zones/db.b.test',
      './zones/sub/db.c.test',
    ])
    assert.equal(await files.listFiles('zone'), undefined)
    assert.equal((await files.listFiles('.'))?.length, 4)
  })

  test('finds imported files by patterns, within a folder', () => {
    const { glob, readText, resolvePath } = files.source
    assert.deepEqual(glob('zones/db.*'), ['zones/db.a.test', 'zones/db.b.test'])
    assert.deepEqual(glob('/custom/*.override'), ['custom/more.override'])
    assert.deepEqual(glob('custom/*.server'), [])
    assert.equal(readText(resolvePath('custom/one', 'more.override')), 'log')
    assert.equal(readText(resolvePath('COREFILE', 'custom/more.override')), 'log')
    assert.equal(readText(resolvePath('custom/one', '/zones/db.a.test')), 'a')
  })

  test('has the texts among the variables as the environment', () => {
    const { environment } = files.source
    assert.equal(environment('UPSTREAM'), 'https://dns.test/dns-query')
    assert.equal(environment('CLUSTER'), undefined)
    assert.equal(environment('HOME'), undefined)
    assert.equal(environment('constructor'), undefined)
  })

  const wrong: { name: string; value: unknown }[] = [
    { name: 'text that is not JSON', value: 'zones/db' },
    { name: 'a list', value: '["zones/db"]' },
    { name: 'a number for a text', value: { 'zones/db': 1 } },
    { name: 'a number', value: 1 },
  ]
  for (const { name, value } of wrong) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => readVariableFiles({ FILES: value }),
        new GatewayConfigError('FILES is not a JSON object with the text of each file by path'),
      )
    })
  }

  test('refuses more text than an isolate should keep', () => {
    const half = 'x'.repeat(8 * 1024 * 1024)
    assert.throws(() => readVariableFiles({ FILES: { a: half }, FILES_2: { b: half, c: 'x' } }), {
      name: 'GatewayConfigError',
      message: 'FILES has 16777217 characters, over 16777216',
    })
  })
})
