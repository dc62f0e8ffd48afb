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

/** Specs that both accept. */
export const VALID_TOKENS: readonly unknown[] = [
  { secretRef },
  { secretRef: { name: 'a.b-c.d', key: 'Token_1.txt' } },
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
  { spec: undefined, message: /^spec.secretRef.name is missing/ },
  { spec: {}, message: /^spec.secretRef.name is missing/ },
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
