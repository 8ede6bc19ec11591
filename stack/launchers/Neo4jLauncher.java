import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Result;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/**
 * Runs a Neo4j server in the foreground: {@code Neo4jLauncher HOME attached|detached}.
 *
 * <p>Settings come from HOME/conf/neo4j.conf. The first start of a home gives the user neo4j the password of the
 * environment variable NEO4J_PASSWORD. Once Bolt answers, its port is in HOME/run/port. Attached, it stops when standard
 * input closes, so it cannot outlive whoever started it; detached, it stops on SIGTERM.
 */
public final class Neo4jLauncher {
    private static final long AVAILABLE_WITHIN_MILLISECONDS = 60_000;

    public static void main(String[] arguments) {
        try {
            serve(arguments);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void serve(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]).toAbsolutePath();
        boolean attached = arguments[1].equals("attached");
        DatabaseManagementService server = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf").resolve("neo4j.conf"))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        GraphDatabaseAPI system = (GraphDatabaseAPI) server.database("system");
        GraphDatabaseAPI database = (GraphDatabaseAPI) server.database("neo4j");
        if (!database.isAvailable(AVAILABLE_WITHIN_MILLISECONDS)) {
            throw new IllegalStateException("the database did not become available; see " + home.resolve("logs"));
        }
        boolean first = system.executeTransactionally(
                "SHOW USERS YIELD user, passwordChangeRequired WHERE user = 'neo4j' AND passwordChangeRequired",
                Map.of(),
                Result::hasNext);
        if (first) {
            system.executeTransactionally(
                    "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED",
                    Map.of("password", System.getenv("NEO4J_PASSWORD")));
        }
        int port = database.getDependencyResolver()
                .resolveDependency(ConnectorPortRegister.class)
                .getLocalAddress(ConnectorType.BOLT)
                .getPort();
        announce(home.resolve("run"), port);
        if (attached) {
            while (System.in.read() >= 0) {}
            System.exit(0);
        }
        new CountDownLatch(1).await();
    }

    private static void announce(Path folder, int port) throws IOException {
        Files.createDirectories(folder);
        Path draft = Files.writeString(folder.resolve("port.draft"), Integer.toString(port));
        Files.move(draft, folder.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
    }
}
