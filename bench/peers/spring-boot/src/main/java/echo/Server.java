package echo;

import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** JSON echo on Spring Boot, as its starter sets it up: Tomcat and Jackson. */
@SpringBootApplication
@RestController
public class Server {

    public record Body(List<Color> colors) {}

    public record Color(String color, String category, String type, Code code) {}

    public record Code(List<Integer> rgba, String hex) {}

    @PostMapping(path = "/**", produces = MediaType.APPLICATION_JSON_VALUE)
    public Body echo(@RequestBody Body body) {
        return body;
    }

    @GetMapping(path = "/**", produces = MediaType.TEXT_PLAIN_VALUE)
    public String hello() {
        return "Hello World";
    }

    public static void main(String[] args) {
        SpringApplication.run(Server.class, args);
    }
}
