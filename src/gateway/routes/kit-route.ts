/**
 * The onboarding kit over HTTP: a phone installs a profile from `/t/TOKEN/kit/apple.mobileconfig`.
 * @module
 */

import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { EVERY_CLUSTER, wildcardParent } from '../../corefile/wildcard-zone.ts'
import { EMPTY } from '../../dns/bytes/bytes.ts'
import {
  formatName,
  isSubdomain,
  joinName,
  nameOf,
  parseRelativeName,
} from '../../dns/names/name.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { KnownClusters } from '../access/known-clusters.ts'
import { sentToken } from '../access/sent-token.ts'
import type { GatewayConfig } from '../config/config.ts'
import { directiveZones } from '../config/directive-zones.ts'
import { HttpError, notFound } from '../doh/http-error.ts'
import { uncached } from '../doh/json-response.ts'
import { KitError, type KitFile, kitFiles, readKit } from '../onboarding/kit.ts'

/** Returns the domains of clusters that a client sees, without reverse zones and final dots. */
export type ClusterDomains = (visibility: ClientVisibility | undefined) => readonly string[]

/** What the route needs. */
type KitRouteOptions = {
  readonly domainsOf: ClusterDomains
  readonly isPublic: boolean
  /** Returns the origin by which the client reaches the gateway. */
  readonly originOf: (c: Context) => string
  /** Returns the hostname with a token in it; '' where there is none. */
  readonly hostnameOf: (token: string) => Promise<string>
  readonly visibilityOf: (c: Context) => ClientVisibility | undefined
}

/** A directive's zone with its clusters, or with `cluster *` one for each cluster. */
type ZonePlace = {
  readonly own: () => readonly {
    readonly cluster: string | undefined
    readonly zone: Uint8Array
  }[]
  /** The zone that has all of `own`, for clients that see all of them. */
  readonly parent?: Uint8Array
}

const REVERSE = nameOf('arpa')

/** Creates {@link ClusterDomains} of one configuration. */
export function clusterDomains(
  { blocks, clusters: configured }: Pick<GatewayConfig, 'blocks' | 'clusters'>,
  published: Pick<KnownClusters, 'ids'> = new KnownClusters(configured),
): ClusterDomains {
  const zones = directiveZones(blocks)
  const forward = zones.filter(({ zone }) => zone.length > 1 && !isSubdomain(zone, REVERSE))
  const places = forward.map(({ clusters, zone }): ZonePlace => {
    const parent = clusters[0] === EVERY_CLUSTER ? wildcardParent(zone) : undefined
    if (parent === undefined) return { own: () => clusters.map((cluster) => ({ cluster, zone })) }
    const own = (): ReturnType<ZonePlace['own']> =>
      published.ids().flatMap((cluster) => {
        const inner = joinName(parseRelativeName(cluster) ?? EMPTY, parent)
        return inner === undefined ? [] : [{ cluster, zone: inner }]
      })
    return { own, parent }
  })
  return (visibility) => {
    const zones = places.flatMap(({ own: ownZones, parent }) => {
      const own = ownZones()
      const seen = own.filter(({ cluster, zone }) => visibility?.seesOrigin(cluster, zone) ?? true)
      const isWhole = parent !== undefined && own.length > 0 && seen.length === own.length
      return isWhole ? [parent] : seen.map(({ zone }) => zone)
    })
    return [...new Set(zones.map((zone) => formatName(zone).slice(0, -1)))]
  }
}

/** Creates the app with `/kit` and `/kit/FILE`, for clients that were admitted. */
export function createKitRoute(options: KitRouteOptions): Hono {
  const app = new Hono()
  app.get('/kit', (c) => respond(c, options, 'README.md'))
  app.get('/kit/:file', (c) => respond(c, options, c.req.param('file')))
  return app
}

async function respond(c: Context, options: KitRouteOptions, name: string): Promise<Response> {
  const file = (await filesFor(c, options)).find((one) => one.name === name)
  if (file === undefined) throw notFound()
  const headers = { 'content-type': `${file.type}; charset=utf-8` }
  if (name === 'README.md') return uncached(200, file.text, headers)
  const disposition = `attachment; filename="${name}"`
  return uncached(200, file.text, { ...headers, 'content-disposition': disposition })
}

async function filesFor(c: Context, options: KitRouteOptions): Promise<readonly KitFile[]> {
  const { isPublic } = options
  const token = isPublic ? '' : (c.req.param('token') ?? sentToken(c.req) ?? '')
  if (token === '' && !isPublic) {
    throw new HttpError(400, 'no_kit', 'A kit contains a token: open /t/TOKEN/kit')
  }
  try {
    const domains = options.domainsOf(options.visibilityOf(c))
    const hostname = isPublic ? '' : await options.hostnameOf(token)
    return await kitFiles(readKit(options.originOf(c), token, domains, { hostname }))
  } catch (error) {
    if (error instanceof KitError) throw new HttpError(400, 'no_kit', error.message)
    throw error
  }
}
