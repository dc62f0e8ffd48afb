import { createEdgeGateway } from 'kubedoh/edge'

const url = Deno.env.get('PRIMARY_URL')
const token = Deno.env.get('KUBEDOH_REPLICA_TOKEN') ?? ''
const gateway = await createEdgeGateway(Deno.env.toObject(), url ? { follow: { url, token } } : {})

Deno.serve({ hostname: '127.0.0.1', port: Number(Deno.env.get('PORT')) }, (request, info) =>
  gateway.fetch(request, info.remoteAddr.hostname),
)
