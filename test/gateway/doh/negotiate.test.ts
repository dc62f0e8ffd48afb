import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type Form,
  mediaType,
  negotiateForm,
  replyBytesMax,
} from '../../../src/gateway/doh/negotiate.ts'

const WIRE = 'application/dns-message'
const JSON_FORM = 'application/dns-json'

describe('negotiateForm', () => {
  const cases: { accept: string | undefined; form: Form | undefined }[] = [
    { accept: undefined, form: 'wire' },
    { accept: '', form: 'wire' },
    { accept: ' ', form: 'wire' },
    { accept: '*/*', form: 'wire' },
    { accept: 'application/*', form: 'wire' },
    { accept: WIRE, form: 'wire' },
    { accept: 'APPLICATION/DNS-MESSAGE', form: 'wire' },
    { accept: `${WIRE};q=0.001`, form: 'wire' },
    { accept: `${WIRE} ; q=1.0`, form: 'wire' },
    { accept: 'text/html, */*;q=0.1', form: 'wire' },
    { accept: JSON_FORM, form: 'json' },
    { accept: 'application/json', form: 'json' },
    { accept: 'application/x-javascript', form: 'json' },
    { accept: `${JSON_FORM}; charset=utf-8; Q=0.5`, form: 'json' },
    // JSON has to be preferred to the wire form where both are named.
    { accept: `${WIRE}, ${JSON_FORM}`, form: 'wire' },
    { accept: `${JSON_FORM}, ${WIRE}`, form: 'wire' },
    { accept: `${JSON_FORM};q=0.9, ${WIRE};q=0.8`, form: 'json' },
    { accept: `${JSON_FORM};q=0.8, ${WIRE};q=0.9`, form: 'wire' },
    { accept: `${JSON_FORM};q=0.8, application/json;q=0.1, ${WIRE};q=0.5`, form: 'json' },
    // What is named is more specific than a wildcard.
    { accept: `${JSON_FORM}, */*`, form: 'json' },
    { accept: `${JSON_FORM};q=0.5, */*;q=0.8`, form: 'wire' },
    { accept: `${JSON_FORM};q=0.5, application/*;q=0.1, */*;q=0.9`, form: 'json' },
    { accept: `${JSON_FORM};q=0.5, */*;q=0.9, application/*;q=0.1`, form: 'json' },
    { accept: `${JSON_FORM};q=0.5, ${WIRE};q=0.1, */*;q=0.9`, form: 'json' },
    // A quality of 0 refuses (RFC 9110 §12.4.2).
    { accept: `${WIRE};q=0`, form: undefined },
    { accept: `${JSON_FORM};q=0`, form: undefined },
    { accept: '*/*;q=0', form: undefined },
    { accept: `${WIRE};q=0, ${JSON_FORM}`, form: 'json' },
    { accept: `${JSON_FORM};q=0, */*`, form: 'wire' },
    { accept: 'application/*;q=0, */*', form: undefined },
    { accept: '*/*;q=0, application/*', form: 'wire' },
    // JSON is not what a wildcard means.
    { accept: `${WIRE};q=0, */*`, form: undefined },
    { accept: 'text/html', form: undefined },
    { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9', form: undefined },
    { accept: 'text/*', form: undefined },
    { accept: 'application/dns-message2', form: undefined },
    // A quality that is none counts as 0.
    { accept: `${WIRE};q=2`, form: undefined },
    { accept: `${WIRE};q=-1`, form: undefined },
    { accept: `${WIRE};q=high`, form: undefined },
    { accept: `${WIRE};q=`, form: undefined },
    { accept: ',;,', form: undefined },
  ]
  for (const { accept, form } of cases) {
    test(`"${accept}" means ${form}`, () => {
      assert.equal(negotiateForm(accept), form)
    })
  }

  test('takes any text', () => {
    const piece = fc.constantFrom(WIRE, JSON_FORM, '*/*', 'q=', '0.5', ';', ',', '=', '/', ' ')
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join('')),
    )
    fc.assert(
      fc.property(text, (accept) => {
        assert.ok([undefined, 'wire', 'json'].includes(negotiateForm(accept)))
      }),
    )
  })
})

describe('mediaType', () => {
  const cases: { header: string | undefined; type: string }[] = [
    { header: undefined, type: '' },
    { header: '', type: '' },
    { header: 'Text/HTML', type: 'text/html' },
    { header: ' text/html ; charset=utf-8', type: 'text/html' },
    { header: '; charset=utf-8', type: '' },
  ]
  for (const { header, type } of cases) {
    test(`reads "${header}" as "${type}"`, () => {
      assert.equal(mediaType(header), type)
    })
  }
})

describe('replyBytesMax', () => {
  const cases: [method: string, accept: string | undefined, bytesMax: number | undefined][] = [
    ['POST', '*/*', 2999],
    ['POST', undefined, undefined],
    ['POST', 'application/dns-message', undefined],
    ['POST', 'application/dns-message, */*', undefined],
    ['GET', '*/*', undefined],
  ]
  for (const [method, accept, bytesMax] of cases) {
    test(`${method} of who accepts ${accept ?? 'nothing in particular'}`, () => {
      assert.equal(replyBytesMax(method, accept), bytesMax)
    })
  }
})
