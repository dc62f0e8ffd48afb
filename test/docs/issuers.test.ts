import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JWTPayload } from 'jose'
import { describe, test } from 'vitest'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { Issuers } from '../../src/gateway/access/issuers.ts'
import { readIssuers } from '../../src/gateway/config/issuers.ts'
import { readTokenIssuer, type TokenIssuer } from '../../src/snapshot/format/token-issuer.ts'
import { FakeIssuer } from '../gateway/fake-issuer.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const PAGES = readdirSync(join(DOCS, 'issuers'))
const TEXT = ['issuers.md', ...PAGES.map((page) => join('issuers', page))]
  .map((path) => readFileSync(join(DOCS, path), 'utf8'))
  .join('')
const NOW_MS = Date.parse('2026-11-29T12:00:00Z')

/** The configuration of each section or page, by its heading. */
const SECTIONS = new Map(
  TEXT.split(/^##? /m).flatMap((section): [string, string][] => {
    const [, block] = /```json\n(.*?)```/s.exec(section) ?? []
    return block === undefined ? [] : [[section.split('\n', 1)[0] ?? '', block]]
  }),
)

/** Claims as the issuers' documents show them, and one that makes the rule not fit. */
const TOKENS: Readonly<
  Record<string, { readonly claims: JWTPayload; readonly other: JWTPayload }>
> = {
  'GitHub Actions': {
    claims: {
      sub: 'repo:acme/shop:ref:refs/heads/main',
      repository: 'acme/shop',
      repository_owner: 'acme',
      ref: 'refs/heads/main',
      ref_protected: 'true',
      event_name: 'push',
    },
    other: { ref: 'refs/pull/7/merge' },
  },
  'GitLab CI': {
    claims: {
      sub: 'project_path:acme/shop:ref_type:branch:ref:main',
      project_id: '22',
      project_path: 'acme/shop',
      ref: 'main',
      ref_protected: 'true',
    },
    other: { ref_protected: 'false' },
  },
  'Kubernetes ServiceAccounts': {
    claims: {
      sub: 'system:serviceaccount:ci:builder',
      aud: ['kubedoh'],
      'kubernetes.io': {
        namespace: 'ci',
        pod: { name: 'job-x', uid: '1' },
        serviceaccount: { name: 'builder', uid: '2' },
      },
    },
    other: { 'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'builder' } } },
  },
  Google: {
    claims: {
      sub: '113774264463038321964',
      email: 'builder@acme.iam.gserviceaccount.com',
      email_verified: true,
    },
    other: { email_verified: false },
  },
  'Microsoft Entra': {
    claims: {
      sub: 'AAAA',
      aud: '66666666-7777-8888-9999-000000000000',
      tid: '11111111-2222-3333-4444-555555555555',
      groups: ['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 'ffffffff-0000-0000-0000-000000000000'],
    },
    other: { groups: ['ffffffff-0000-0000-0000-000000000000'] },
  },
  Okta: {
    claims: { sub: 'a@example.com', aud: 'api://default', groups: ['Everyone', 'shop-dev'] },
    other: { groups: ['Everyone'] },
  },
  Keycloak: {
    claims: { sub: 'f:1', aud: ['account', 'kubedoh'], realm_access: { roles: ['dns-shop'] } },
    other: { realm_access: { roles: ['offline_access'] } },
  },
  Dex: {
    claims: { sub: 'CgYx', aud: 'kubedoh', groups: ['acme:shop'], email_verified: true },
    other: { groups: ['acme:data'] },
  },
  Tailscale: {
    claims: { sub: 'userid:1', email: 'a@example.com', tailnet: 'example.com', uid: 1 },
    other: { tailnet: 'evil.example' },
  },
  RBAC: {
    claims: { sub: '7', email: 'ada@example.com', email_verified: true, groups: ['dev'] },
    other: { email_verified: false },
  },
  'Cloudflare Access': {
    claims: {
      sub: '7',
      aud: ['0123456789abcdef'.repeat(4)],
      email: 'alice@example.com',
      type: 'app',
    },
    other: { email: 'alice@example.com.evil.test' },
  },
}

describe('docs/issuers.md', () => {
  test('has a page for each form of token, and sections for RBAC, operators and logins only', () => {
    const others = ['Operators', 'Log in']
    const names = [...SECTIONS.keys()].filter((name) => !others.includes(name))
    assert.equal(readIssuers(SECTIONS.get('Log in') ?? '')[0]?.client?.id, 'kubedoh')
    assert.deepEqual(names.sort(), Object.keys(TOKENS).sort())
    assert.equal(PAGES.length, names.length - 1)
    const [config] = readIssuers(SECTIONS.get('Operators') ?? '')
    assert.deepEqual(
      config?.rules.map(({ role }) => role),
      ['administrator', 'issuer'],
    )
  })

  for (const [name, { claims, other }] of Object.entries(TOKENS)) {
    test(`${name}: its tokens count by the rule of the page, and no others`, async () => {
      const [config] = readIssuers(SECTIONS.get(name) ?? '')
      assert.ok(config)
      const issuer = new FakeIssuer(config.issuer, 'RS256')
      const { keys } = config
      const published = async (): Promise<TokenIssuer | undefined> => {
        const set = recordOf(await (await issuer.fetch(`${issuer.url}/keys`)).json())
        return readTokenIssuer(issuer.url, set.keys)
      }
      const asked: string[] = []
      const issuers = new Issuers([config], [], {
        fetch: (url) => {
          asked.push(url)
          return issuer.fetch(
            asked.length === 1 && keys === 'discovery' ? url : `${issuer.url}/keys`,
          )
        },
        tokenIssuerOf: published,
        after: () => () => undefined,
        clock: { now: () => NOW_MS, elapsed: () => 0 },
        log: () => undefined,
      })
      const known = await issuers.find(await issuer.sign(NOW_MS, claims))
      assert.match(known?.visibility.id ?? '', /"namespaces":(?:\["shop"|"rbac")/)
      const stranger = await issuer.sign(NOW_MS, { ...claims, ...other })
      assert.equal(await issuers.find(stranger), undefined)
    })
  }
})
