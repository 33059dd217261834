// JSON echo on Bun's own server: PORT says where it listens; WORKERS processes share that port,
// each accepting for itself.

import { availableParallelism } from "node:os";

const port = Number(process.env.PORT ?? 3000);
const workers = Number(process.env.WORKERS ?? availableParallelism());

if (process.env.WORKER || workers === 1) {
  Bun.serve({
    hostname: "127.0.0.1",
    port,
    reusePort: workers > 1,
    development: false,
    async fetch(request) {
      if (request.method !== "POST") {
        return new Response("Hello World", { headers: { "Content-Type": "text/plain" } });
      }
      try {
        return Response.json(await request.json());
      } catch (error) {
        return new Response(String(error), { status: 400 });
      }
    },
  });
} else {
  const children = Array.from({ length: workers }, () =>
    Bun.spawn([process.execPath, import.meta.path], {
      env: { ...process.env, WORKER: "1" },
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      children.forEach((child) => child.kill());
      process.exit();
    });
  }
  await Promise.race(children.map((child) => child.exited));
  children.forEach((child) => child.kill());
}
