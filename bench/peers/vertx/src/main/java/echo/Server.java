package echo;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** JSON echo on Vert.x core: one instance on each event loop, Jackson's data binding. */
public class Server extends AbstractVerticle {

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Body(List<Color> colors) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Color(String color, String category, String type, Code code) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Code(List<Integer> rgba, String hex) {}

    @Override
    public void start() {
        int port = config().getInteger("port");
        vertx.createHttpServer().requestHandler(Server::handle).listen(port, "127.0.0.1");
    }

    private static void handle(HttpServerRequest request) {
        if (request.method() == HttpMethod.POST) {
            request.bodyHandler(octets -> echo(octets, request.response()));
        } else {
            request.response().putHeader("Content-Type", "text/plain").end("Hello World");
        }
    }

    private static void echo(Buffer octets, HttpServerResponse response) {
        try {
            Body body = Json.decodeValue(octets, Body.class);
            response.putHeader("Content-Type", "application/json").end(Json.encodeToBuffer(body));
        } catch (DecodeException error) {
            response.setStatusCode(400).putHeader("Content-Type", "text/plain").end(error.getMessage());
        }
    }

    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]);
        int workers = Integer.parseInt(args[1]);

        Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(workers));
        DeploymentOptions options =
                new DeploymentOptions().setInstances(workers).setConfig(new JsonObject().put("port", port));
        vertx.deployVerticle(Server.class, options).onFailure(error -> {
            error.printStackTrace();
            System.exit(1);
        });
    }
}
