import { createEdgeGateway } from 'kubedoh/edge'

/** An event of payload format 2.0, as far as it is read. */
type Event = {
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly isBase64Encoded: boolean
  readonly requestContext: {
    readonly domainName: string
    readonly http: { readonly method: string; readonly sourceIp: string }
  }
}

type Result = {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: true
}

const { PRIMARY_URL: url, KUBEDOH_REPLICA_TOKEN: token = '' } = process.env
const gateway = await createEdgeGateway(process.env, url ? { follow: { url, token } } : {})

export async function handler(event: Event): Promise<Result> {
  const { domainName, http } = event.requestContext
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`
  const encoding = event.isBase64Encoded ? 'base64' : 'utf8'
  const request = new Request(`https://${domainName}${event.rawPath}${query}`, {
    method: http.method,
    headers: event.headers,
    ...(event.body !== undefined && { body: Buffer.from(event.body, encoding) }),
  })
  const response = await gateway.fetch(request, http.sourceIp)
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
    isBase64Encoded: true,
  }
}
