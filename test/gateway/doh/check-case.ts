/**
 * What a response has to be: what holds for all, and what a row says.
 * @module
 */
import assert from 'node:assert/strict'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import type { AppCase } from './app-cases.ts'
import type { Got } from './replies.ts'

const WIRE = 'application/dns-message'

/** The body as text. */
export function textOf({ body }: Got): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(body)
}

/** What holds for every response, whatever the row says. */
export function checkAlways(got: Got): void {
  const { status, headers, body } = got
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('x-robots-tag'), 'noindex')
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
  for (const name of ['set-cookie', 'location', 'content-encoding']) {
    assert.equal(headers.get(name), null, name)
  }
  if (status === 200) {
    assert.equal(headers.get('content-length'), String(body.length))
    assert.equal(headers.get('vary'), 'Accept')
  } else if (status !== 204) {
    assert.equal(headers.get('content-type'), 'application/json')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.ok(body.length < 1024)
    const { error } = JSON.parse(textOf(got))
    assert.match(error.code, /^[a-z0-9_]+$/)
    assert.match(error.message, /^["A-Z].*[^.]$/)
  }
}

/** Checks a response against a row. */
export function checkCase(got: Got, row: AppCase): void {
  assert.equal(got.status, row.status, textOfError(got))
  checkAlways(got)
  for (const [name, value] of Object.entries(row.has ?? {})) {
    assert.equal(got.headers.get(name), value ?? null, name)
  }
  if (row.code !== undefined) assert.equal(JSON.parse(textOf(got)).error.code, row.code)
  if (row.rcode !== undefined) assert.equal(readUint16(got.body, 2) & 15, row.rcode)
  if (row.answer !== undefined) {
    assert.equal(got.headers.get('content-type'), WIRE)
    assert.deepEqual(parseResponse(got.body)?.answer.map(formatRecord), row.answer)
  }
  if (row.json !== undefined) {
    const body = JSON.parse(textOf(got))
    for (const [field, value] of Object.entries(row.json)) assert.deepEqual(body[field], value)
  }
}

function textOfError(got: Got): string {
  return got.status === 200 ? '' : textOf(got)
}
