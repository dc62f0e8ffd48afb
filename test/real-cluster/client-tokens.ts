/**
 * ClientTokens for the suites, and the rights that following them takes.
 * @module
 */
import { createHash } from 'node:crypto'
import type { ApiObject } from './api-server.ts'

/** What the exporter needs beyond its other rights. */
export const TOKENS_ROLE: ApiObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'kubedoh-client-tokens' },
  rules: [
    { apiGroups: ['kubedoh.dev'], resources: ['clienttokens'], verbs: ['list', 'watch'] },
    { apiGroups: ['kubedoh.dev'], resources: ['clienttokens/status'], verbs: ['update'] },
    // ServiceAccounts have this one by default; the exporter of this suite is a user.
    { nonResourceURLs: ['/.well-known/openid-configuration', '/openid/v1/jwks'], verbs: ['get'] },
  ],
}

/** The right to get Secrets in one namespace. */
export const READ_SECRETS: ApiObject = {
  apiVersion: TOKENS_ROLE.apiVersion,
  kind: 'Role',
  metadata: { name: 'kubedoh-secrets', namespace: 'shop' },
  rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
}

/** Returns the binding of a role to the exporters of the suites. */
export function bindingOf({ kind, metadata }: ApiObject): ApiObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
    subjects: [{ kind: 'Group', name: 'exporters', apiGroup: 'rbac.authorization.k8s.io' }],
  }
}

/** Returns a ClientToken, by NAMESPACE/NAME. */
export function token(key: string, spec: unknown): ApiObject {
  const [space = '', name = ''] = key.split('/')
  const metadata = { namespace: space, name }
  return { apiVersion: 'kubedoh.dev/v1alpha1', kind: 'ClientToken', metadata, spec }
}

/** Returns a Secret with the text of a token. */
export function secret(key: string, text: string): ApiObject {
  const [space = '', name = ''] = key.split('/')
  const data = { token: Buffer.from(text).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: space, name }, data }
}

/** Returns the text of a token that nothing else has. */
export function textOf(name: string): string {
  return `kdo_${createHash('sha256').update(name).digest('hex')}`
}
