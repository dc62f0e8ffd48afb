import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HttpError } from '../../src/doh/http-error.ts'
import { type Access, checkAccess, hasHash, headerToken } from '../../src/gateway/access.ts'
import { sha256Hex } from '../../src/snapshot/signature.ts'

const TOKEN = 'kd_Zm9v-YmFy'
const sha256 = await sha256Hex(new TextEncoder().encode(TOKEN))

function request(authorization: string | undefined): Request {
  const headers = authorization === undefined ? {} : { authorization }
  return new Request('https://dns.example.org/dns-query', { headers })
}

describe('headerToken', () => {
  const cases: { header: string | undefined; token: string | undefined }[] = [
    { header: undefined, token: undefined },
    { header: '', token: undefined },
    { header: `Bearer ${TOKEN}`, token: TOKEN },
    { header: `bearer   ${TOKEN}`, token: TOKEN },
    { header: 'Bearer', token: undefined },
    { header: `Bearer ${TOKEN} more`, token: undefined },
    { header: `Basic ${btoa(`anyone:${TOKEN}`)}`, token: TOKEN },
    { header: `BASIC ${btoa(`:${TOKEN}`)}`, token: TOKEN },
    { header: `Basic ${btoa('a:b:c')}`, token: 'b:c' },
    { header: `Basic ${btoa(TOKEN)}`, token: TOKEN },
    { header: 'Basic %%%', token: undefined },
    { header: `Digest ${TOKEN}`, token: undefined },
    { header: TOKEN, token: undefined },
  ]
  for (const { header, token } of cases) {
    test(`reads ${token} from "${header}"`, () => {
      assert.equal(headerToken(request(header)), token)
    })
  }
})

describe('hasHash', () => {
  test('holds for the token only', async () => {
    assert.equal(await hasHash(TOKEN, sha256), true)
    assert.equal(await hasHash(`${TOKEN}x`, sha256), false)
    assert.equal(await hasHash('', sha256), false)
  })

  test('holds for no other hash, wherever it differs', async () => {
    for (const at of [0, 31, 63]) {
      const other = `${sha256.slice(0, at)}${sha256[at] === '0' ? '1' : '0'}${sha256.slice(at + 1)}`
      assert.equal(await hasHash(TOKEN, other), false)
    }
    assert.equal(await hasHash(TOKEN, sha256.slice(1)), false)
  })
})

describe('checkAccess', () => {
  const open: Access = { kind: 'public' }
  const token: Access = { kind: 'token', sha256 }
  const closed: Access = { kind: 'closed' }
  const bearer = `Bearer ${TOKEN}`
  const cases: { name: string; access: Access; header?: string; path?: string; ok: boolean }[] = [
    { name: 'lets everybody in where all may ask', access: open, ok: true },
    { name: 'lets in who has the token', access: token, header: bearer, ok: true },
    { name: 'lets in who has the token in the path', access: token, path: TOKEN, ok: true },
    { name: 'keeps out who has none', access: token, ok: false },
    { name: 'keeps out who has another', access: token, header: `${bearer}x`, ok: false },
    { name: 'goes by the path first', access: token, header: bearer, path: 'x', ok: false },
    { name: 'keeps everybody out until told otherwise', access: closed, ok: false },
    { name: 'keeps out whoever guesses', access: closed, header: bearer, path: TOKEN, ok: false },
  ]
  for (const { name, access, header, path, ok } of cases) {
    test(name, async () => {
      const checked = checkAccess(access, request(header), path)
      if (ok) await checked
      else await assert.rejects(checked, isChallenge)
    })
  }
})

/** The same in every case, so that nothing can be learnt from it. */
function isChallenge(error: unknown): boolean {
  assert.ok(error instanceof HttpError)
  assert.equal(
    `${error.status} ${error.code} ${error.message}`,
    '401 unauthorized A token is needed',
  )
  const challenge = 'Bearer realm="kubedoh", Basic realm="kubedoh"'
  assert.deepEqual(error.headers, { 'www-authenticate': challenge })
  return true
}
