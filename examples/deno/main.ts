import { createEdgeGateway } from 'kubedoh/edge'

const gateway = await createEdgeGateway(Deno.env.toObject())

Deno.serve({ hostname: '127.0.0.1', port: Number(Deno.env.get('PORT')) }, (request, info) =>
  gateway.fetch(request, info.remoteAddr.hostname),
)
