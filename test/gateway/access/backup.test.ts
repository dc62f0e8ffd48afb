/** The document of what a gateway has: it is read back whole, or refused with the line. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'vitest'
import {
  type Backup,
  BackupError,
  backupLines,
  parseBackup,
} from '../../../src/gateway/access/backup.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { tokenRecord } from '../tokens.ts'

const noPause = (): undefined => undefined
const { publicKey } = await generateKeyPair()
const keys = { publicKey, tokenSha256: 'a'.repeat(64), createdMs: 7 }
const { record } = await tokenRecord({ name: 'ci', usedDay: 20_000, role: 'viewer' })
const issuers = JSON.stringify([
  {
    issuer: 'https://sso.example.org',
    audiences: ['kubedoh'],
    rules: [{ when: { a: 'b' }, namespaces: ['shop'] }],
  },
])
const revoked = {
  ...{ ...record, id: '00000000000a', name: '', secrets: [], expiresMs: 99 },
  scope: { clusters: [], origins: [], namespaces: [], recurse: false },
  identities: ['revoked:https://sso.example.org ann'],
}
const BACKUP: Backup = {
  kind: 'backup',
  created: '2026-11-30T00:00:00.000Z',
  known: ['prod', 'lab'],
  tokens: [record, revoked],
  clusters: [{ id: 'lab', createdMs: 7, keys: [keys], issuers }],
  pins: [{ cluster: 'prod', generation: 7 }],
}

async function textOf(backup: Backup): Promise<string> {
  return (await backupLines(backup, noPause)).join('')
}

/** Parses what has valid checksums, but for one line with other contents. */
function withLine(line: object): Promise<Backup> {
  const head = { kubedoh: 'backup', version: 1, created: BACKUP.created, clusters: [] }
  return parseBackup(signed([head, line, { end: 2 }]), noPause)
}

function signed(lines: readonly object[]): string {
  return lines
    .map((one) => JSON.stringify(one).slice(0, -1))
    .map((text) => [text, createHash('sha256').update(text).digest('hex').slice(0, 16)])
    .map(([text, sum]) => `${text},"sum":"${sum}"}\n`)
    .join('')
}

describe('a backup', () => {
  test('is read back whole', async () => {
    const text = await textOf(BACKUP)
    assert.equal(text.split('\n').length, 1 + 2 + 1 + 1 + 1 + 1)
    assert.deepEqual(await parseBackup(text, noPause), BACKUP)
  })

  test('is refused for too many lines without a list of all of them', async () => {
    const text = '\n'.repeat(16 * 1024 * 1024)
    const before = process.memoryUsage().heapUsed
    const parsed = parseBackup(text, noPause)
    const bytes = process.memoryUsage().heapUsed - before
    await assert.rejects(parsed, { message: 'is one line too many', line: 20_004 })
    // It was 151 MB with all lines, 17 MB without.
    assert.ok(bytes < 64e6, `${bytes} bytes`)
  })

  test('is refused with the line that is damaged, wherever a byte differs', async () => {
    const lines = (await textOf(BACKUP)).split('\n').slice(0, -1)
    for (const [i, line] of lines.entries()) {
      for (let at = 0; at < line.length; at += 7) {
        const other = line[at] === '1' ? '2' : '1'
        const damaged = line.slice(0, at) + other + line.slice(at + 1)
        const text = lines.with(i, damaged).join('\n')
        const error = await parseBackup(text, noPause).catch((one: unknown) => one)
        assert.ok(error instanceof BackupError, line)
        assert.deepEqual(
          [error.line, error.message],
          [i + 1, 'is damaged: it is not as kubedoh wrote it'],
        )
      }
    }
  })

  test('is refused where lines are missing, added or twice', async () => {
    const lines = (await textOf(BACKUP)).split('\n').slice(0, -1)
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [lines.slice(0, -1), /^is not the last line: the file is cut off$/],
      [lines.toSpliced(1, 1), /cut off/],
      [[...lines, lines.at(-1) ?? ''], /cut off/],
      [[''], /^does not begin a backup/],
      [lines.slice(1), /^does not begin a backup/],
    ]
    for (const [some, message] of cases) {
      await assert.rejects(parseBackup(some.join('\n'), noPause), { name: 'BackupError', message })
    }
    const twice = await textOf({ ...BACKUP, tokens: [record, record] })
    await assert.rejects(parseBackup(twice, noPause), { line: 3, message: /^repeats "/ })
  })

  test('says nothing to a terminal that kubedoh did not write', async () => {
    const head = { kubedoh: 'backup', version: 1, created: BACKUP.created, clusters: [] }
    for (const fields of [
      { created: '\u001b]0;title\u0007' },
      { clusters: ['\u001b[2J'] },
      { version: '\u001b[2J' },
    ]) {
      const parsed = parseBackup(signed([{ ...head, ...fields }, { end: 1 }]), noPause)
      await assert.rejects(parsed, { line: 1, message: /^does not begin a backup/ })
    }
    const message = 'is no token: "\\u001b[2J" is unknown'
    await assert.rejects(withLine({ token: { ...record, '\u001b[2J': 1 } }), { message })
  })

  test('of a later version is refused', async () => {
    const head = { kubedoh: 'backup', version: 2, created: '', clusters: [] }
    const message = 'has version 2, this build reads 1'
    await assert.rejects(parseBackup(signed([head, { end: 1 }]), noPause), { line: 1, message })
  })

  const entry = { id: 'lab', createdMs: 7, keys: [keys] }
  const refused: readonly { readonly name: string; readonly line: object; readonly why: RegExp }[] =
    [
      { name: 'an unknown kind', line: { alias: 1 }, why: /^is neither/ },
      { name: 'a token that is none', line: { token: 1 }, why: /^is no token$/ },
      {
        name: 'a field that would bound the token, to a later build',
        line: { token: { ...record, hours: 'day' } },
        why: /^is no token: "hours" is unknown$/,
      },
      {
        name: 'a scope with such a field',
        line: { token: { ...record, scope: { ...record.scope, types: ['A'] } } },
        why: /"types" is unknown/,
      },
      {
        name: 'a scope with no pattern',
        line: { token: { ...record, scope: { ...record.scope, namespaces: [] } } },
        why: /"namespaces" is not a list of 1 to 100/,
      },
      {
        name: 'a token of an object',
        line: { token: { ...record, by: 'cluster prod' } },
        why: /^is no token that an operator made$/,
      },
      {
        name: 'a revocation that also sees something',
        line: { token: { ...revoked, scope: record.scope } },
        why: /"identities" has "revoked:/,
      },
      {
        name: 'a secret that is no hash',
        line: { token: { ...record, secrets: [{ sha256: 'kdt_' }] } },
        why: /^is no token that/,
      },
      { name: 'an identifier', line: { token: { ...record, id: 'x' } }, why: /^is no token that/ },
      {
        name: 'an end beyond all time',
        line: { token: { ...record, expiresMs: 1e300 } },
        why: /^is no token that/,
      },
      {
        name: 'a key that is none',
        line: { cluster: { ...entry, keys: [{ ...keys, publicKey: 'x' }] } },
        why: /^is no cluster$/,
      },
      { name: 'no key', line: { cluster: { ...entry, keys: [] } }, why: /^is no cluster$/ },
      { name: 'a cluster', line: { cluster: { ...entry, id: '../x' } }, why: /^is no cluster$/ },
      {
        name: 'issuers that may not be of a cluster',
        line: { cluster: { ...entry, issuers: issuers.replace('sso.example.org', '127.0.0.1') } },
        why: /^is no cluster: issuers\[0\]/,
      },
    ]
  for (const { name, line, why } of refused) {
    test(`is refused with ${name}`, async () => {
      await assert.rejects(withLine(line), { name: 'BackupError', line: 2, message: why })
    })
  }
})
