/**
 * Valid and invalid ClientTokens, for the parser and for a real API server with the schema.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const CRDS = join(import.meta.dirname, '../../deploy/crds/templates')

/** The custom resource definition. */
export const TOKEN_DEFINITION: unknown = parse(
  readFileSync(join(CRDS, 'clienttokens.kubedoh.dev.yaml'), 'utf8'),
)

const secretRef = { name: 'dns' }
const subject = { issuer: 'https://sso.example.com', name: 'ann@example.com' }

/** Specs that both accept. */
export const VALID_TOKENS: readonly unknown[] = [
  { secretRef },
  { secretRef: { name: 'a.b-c.d', key: 'Token_1.txt' } },
  { subject },
  { subject: { issuer: 'http://127.0.0.1:8080/dex', name: 'system:serviceaccount:shop:ci' } },
  { subject: { issuer: `https://a/${'b'.repeat(502)}`, name: 'a'.repeat(255) } },
  { subject: { ...subject, name: 'repo:acme/shop:ref:refs/heads/main' }, recurse: true },
  { subject: { ...subject, name: 'Ann Example' }, expires: '2027-06-30T00:00:00Z' },
  { secretRef, namespaces: ['shop'] },
  { secretRef, namespaces: ['*'] },
  { secretRef, namespaces: ['shop-*', 'team=a', 'app.kubernetes.io/part-of=x=y&dev-*', 'a='] },
  { secretRef, namespaces: Array.from({ length: 16 }, (_, i) => `ns-${i}`) },
  { secretRef, origins: ['*'] },
  { secretRef, origins: ['shop.example.org', '*.example.org.', '_x.example.org', 'k8s-*'] },
  { secretRef, recurse: true, explain: false },
  { secretRef, expires: '2027-06-30T00:00:00Z' },
  { secretRef, expires: '2027-06-30T00:00:00.5+02:00' },
]

/** Specs that both refuse, with what the parser says of each. */
export const INVALID_TOKENS: readonly { readonly spec: unknown; readonly message: RegExp }[] = [
  { spec: undefined, message: /^spec has neither of "secretRef" and "subject"/ },
  { spec: {}, message: /^spec has neither/ },
  { spec: { namespaces: ['shop'] }, message: /^spec has neither/ },
  { spec: { secretRef, subject }, message: /^spec has both/ },
  { spec: { subject: {} }, message: /^spec.subject.issuer is missing/ },
  { spec: { subject: 'ann' }, message: /^spec.subject is "ann"/ },
  { spec: { subject: { name: 'ann' } }, message: /^spec.subject.issuer is missing/ },
  { spec: { subject: { issuer: subject.issuer } }, message: /^spec.subject.name is missing/ },
  { spec: { subject: { ...subject, issuer: '' } }, message: /^spec.subject.issuer is ""/ },
  { spec: { subject: { ...subject, issuer: 'sso' } }, message: /^spec.subject.issuer is "sso"/ },
  { spec: { subject: { ...subject, issuer: 'https://a b' } }, message: /^spec.subject.issuer/ },
  { spec: { subject: { ...subject, issuer: 'https://é' } }, message: /^spec.subject.issuer/ },
  { spec: { subject: { ...subject, issuer: 'https://a\n' } }, message: /^spec.subject.issuer/ },
  {
    spec: { subject: { ...subject, issuer: `https://a/${'b'.repeat(503)}` } },
    message: /^spec.subject.issuer is missing, or too long/,
  },
  { spec: { subject: { ...subject, name: '' } }, message: /^spec.subject.name is ""/ },
  { spec: { subject: { ...subject, name: ' ann' } }, message: /^spec.subject.name is " ann"/ },
  { spec: { subject: { ...subject, name: 'ann\n' } }, message: /^spec.subject.name/ },
  { spec: { subject: { ...subject, name: 'änn' } }, message: /^spec.subject.name/ },
  { spec: { subject: { ...subject, name: 7 } }, message: /^spec.subject.name is 7/ },
  {
    spec: { subject: { ...subject, name: 'a'.repeat(256) } },
    message: /^spec.subject.name is missing, or too long/,
  },
  { spec: { secretRef: {} }, message: /^spec.secretRef.name is missing/ },
  { spec: { secretRef: { name: '' } }, message: /^spec.secretRef.name is ""/ },
  { spec: { secretRef: { name: 'A' } }, message: /^spec.secretRef.name is "A"/ },
  { spec: { secretRef: { name: '../x' } }, message: /^spec.secretRef.name/ },
  { spec: { secretRef: { name: 'a/b' } }, message: /^spec.secretRef.name/ },
  { spec: { secretRef: { name: 'a'.repeat(254) } }, message: /^spec.secretRef.name/ },
  { spec: { secretRef: { name: 'a', key: 'x/y' } }, message: /^spec.secretRef.key is "x\/y"/ },
  { spec: { secretRef: { name: 'a', key: '' } }, message: /^spec.secretRef.key is ""/ },
  { spec: { secretRef, namespaces: [] }, message: /^spec.namespaces has 0/ },
  { spec: { secretRef, namespaces: ['a', 'a'] }, message: /16 different patterns/ },
  { spec: { secretRef, namespaces: 'shop' }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: [''] }, message: /^spec.namespaces has ""/ },
  { spec: { secretRef, namespaces: ['Shop'] }, message: /^spec.namespaces has "Shop"/ },
  { spec: { secretRef, namespaces: ['a&'] }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: ['=a'] }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: ['a b'] }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: ['a\n'] }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: ['a'.repeat(254)] }, message: /^spec.namespaces/ },
  { spec: { secretRef, namespaces: ['*', 'shop'] }, message: /^spec.namespaces has "\*" and/ },
  {
    spec: { secretRef, namespaces: Array.from({ length: 17 }, (_, i) => `ns-${i}`) },
    message: /^spec.namespaces has 17/,
  },
  { spec: { secretRef, origins: [] }, message: /^spec.origins has 0/ },
  { spec: { secretRef, origins: ['a.test', '*'] }, message: /^spec.origins has "\*" and/ },
  { spec: { secretRef, origins: ['.'] }, message: /^spec.origins has "\."/ },
  { spec: { secretRef, origins: ['a..b'] }, message: /^spec.origins has "a..b"/ },
  { spec: { secretRef, origins: ['-a.test'] }, message: /^spec.origins/ },
  { spec: { secretRef, origins: ['a.test/x'] }, message: /^spec.origins/ },
  { spec: { secretRef, origins: [`${'l'.repeat(64)}.test`] }, message: /^spec.origins/ },
  { spec: { secretRef, recurse: 'yes' }, message: /^spec.recurse is "yes"/ },
  { spec: { secretRef, explain: 1 }, message: /^spec.explain is 1/ },
  { spec: { secretRef, expires: 'tomorrow' }, message: /^spec.expires is "tomorrow"/ },
  { spec: { secretRef, expires: '2027-06-30' }, message: /^spec.expires/ },
  { spec: { secretRef, expires: '2027-13-30T00:00:00Z' }, message: /^spec.expires/ },
]
