'use strict';

// JSON echo on Fastify: one schema checks what comes in and compiles the serialiser of what goes out.
// PORT says where it listens; more than one of WORKERS share that port through node:cluster.

const cluster = require('node:cluster');
const fastify = require('fastify');

const port = Number(process.env.PORT ?? 3000);
const workers = Number(process.env.WORKERS ?? 1);

const body = {
  type: 'object',
  properties: {
    colors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          color: { type: 'string' },
          category: { type: 'string' },
          type: { type: 'string' },
          code: {
            type: 'object',
            properties: {
              rgba: { type: 'array', items: { type: 'integer' } },
              hex: { type: 'string' },
            },
          },
        },
      },
    },
  },
};

async function serve() {
  const app = fastify({ logger: false });
  app.post('/*', { schema: { body, response: { 200: body } } }, async (request) => request.body);
  app.get('/*', async (request, reply) => reply.type('text/plain').send('Hello World'));
  await app.listen({ host: '127.0.0.1', port });
}

if (workers > 1 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork();
} else {
  serve();
}
