/** Issuers of one cluster of the directory: what they may say. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readClusterIssuers } from '../../../src/gateway/config/cluster-issuers.ts'
import { IssuersError } from '../../../src/gateway/config/issuers.ts'

const RULE = { when: { sub: 'a' }, namespaces: ['shop'] }
const ISSUER = { issuer: 'https://ci.example.com', audiences: ['kubedoh'], rules: [RULE] }
const inCluster = { ...ISSUER, issuer: 'https://kubernetes.default.svc.cluster.local' }

describe('the issuers of a cluster', () => {
  test('are for this cluster, also where they do not say so', () => {
    for (const more of [{}, { clusters: ['lab'] }]) {
      const value = [{ ...ISSUER, rules: [{ ...RULE, ...more, role: 'operator' }] }]
      const [read] = readClusterIssuers('lab', value)
      assert.deepEqual(read?.rules[0]?.scope.clusters, ['lab'])
    }
  })

  test('have keys of their own, at a public hostname or of the cluster', () => {
    const values = [{}, { keys: 'https://keys.example.net/set' }].map((more) => ({
      ...ISSUER,
      ...more,
    }))
    const all = [...values, { ...inCluster, keys: 'cluster:lab' }]
    assert.equal(readClusterIssuers('lab', all).length, 3)
  })

  const rule = (more: object): object => ({ ...ISSUER, rules: [RULE, { ...RULE, ...more }] })
  const other = { when: { sub: 'b' } }
  const clusters = 'issuers[0].rules[1].clusters is not ["lab"], the only one it may name'
  const cases: { value: unknown; message: string }[] = [
    { value: {}, message: 'issuers is not a JSON list' },
    { value: undefined, message: 'issuers is not a JSON list' },
    { value: Array.from({ length: 5 }, () => ISSUER), message: 'issuers has over 4 issuers' },
    {
      value: [rule({ when: { sub: 'x'.repeat(4096) } })],
      message: 'issuers is over 4096 characters',
    },
    ...[['*'], ['prod'], ['lab', 'prod'], ['la*'], []].map((names) => ({
      value: [rule({ ...other, clusters: names })],
      // The list itself is wrong before what is in it.
      message: names.length > 0 ? clusters : /"clusters" is not a list of 1 to 100 strings/,
    })),
    ...['viewer', 'issuer', 'administrator'].map((role) => ({
      value: [rule({ ...other, role })],
      message: `issuers[0].rules[1].role is "${role}", which only ISSUERS may give`,
    })),
    {
      value: [{ ...ISSUER, client: { id: 'cli' } }],
      message: 'issuers[0].client belongs into ISSUERS',
    },
    {
      value: [{ ...ISSUER, keys: 'cluster:prod' }],
      message: 'issuers[0].keys is not "cluster:lab", the only cluster it may name',
    },
    ...[
      'http://127.0.0.1:8080',
      'https://127.0.0.1',
      'https://10.0.0.1',
      'https://[fd00::1]',
      'https://2130706433',
      'https://0x7f.1',
      'https://localhost',
      'https://intranet',
      'https://sso.corp.internal',
      'https://sso.local',
      'https://kubernetes.default.svc.cluster.local',
      'https://sso.example.com:8443',
      'https://sso.example.com.',
    ].flatMap((url) => [
      {
        value: [{ ...ISSUER, issuer: url }],
        message: 'issuers[0].issuer is at no public hostname; it belongs into ISSUERS',
      },
      {
        value: [{ ...ISSUER, keys: url }],
        message: 'issuers[0].keys is at no public hostname; it belongs into ISSUERS',
      },
    ]),
  ].map(({ value, message }) => ({ value, message: String(message) }))
  for (const { value, message } of cases) {
    test(`refuse ${JSON.stringify(value)?.slice(0, 90)}: ${message}`, () => {
      assert.throws(
        () => readClusterIssuers('lab', value),
        (error) =>
          error instanceof IssuersError &&
          (message.startsWith('/')
            ? error.message.includes(message.slice(1, -1))
            : error.message === message),
      )
    })
  }
})
