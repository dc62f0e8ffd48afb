/**
 * Which verbs the exporter's role lacks, for messages to operators.
 * @module
 */
import { recordOf } from '../../dns/bytes/unknown.ts'
import { ApiError, type Listed, type ObjectApi } from './object-api.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const VERBS = ['list', 'watch'] as const

/**
 * Returns the rule that the ClusterRole lacks to list and watch a collection, after a `; `. The API
 * server names only the verb that it just refused; a review (SelfSubjectAccessReview) finds the
 * other one, so that operators mend both at once. If reviews are refused too, names both verbs.
 */
export async function describeMissingRights(
  api: ObjectApi,
  { path, resource }: Listed,
  signal: AbortSignal,
): Promise<string> {
  const group = groupOf(path)
  const reviewed = await Promise.all(
    VERBS.map(async (verb) =>
      (await isAllowed(api, { group, resource, verb }, signal)) ? [] : verb,
    ),
  )
  const missing = reviewed.flat()
  // Rights that came back in between.
  if (missing.length === 0) return ''
  const full = group === '' ? resource : `${resource}.${group}`
  const rule = JSON.stringify({ apiGroups: [group], resources: [resource], verbs: missing })
  return `; the role cannot ${missing.join(' or ')} ${full}, add to its ClusterRole: ${rule}`
}

type Access = { readonly group: string; readonly resource: string; readonly verb: string }

async function isAllowed(api: ObjectApi, access: Access, signal: AbortSignal): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  }
  const request = {
    method: 'POST',
    path: REVIEWS,
    resource: 'selfsubjectaccessreviews',
    body,
  } as const
  try {
    const review = recordOf(await api.send(request, signal))
    return recordOf(review.status).allowed === true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Returns the group of a path, `/api/v1/…` or `/apis/GROUP/VERSION/…`; '' for the core group. */
function groupOf(path: string): string {
  const [, root, group = ''] = path.split('/')
  return root === 'apis' ? group : ''
}
