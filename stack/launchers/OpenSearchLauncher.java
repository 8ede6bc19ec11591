import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.index.reindex.ReindexModulePlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessModulePlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/**
 * Runs an OpenSearch node in the foreground: {@code OpenSearchLauncher HOME attached|detached}.
 *
 * <p>Settings come from HOME/conf/opensearch.yml. Once HTTP answers, its port is in HOME/run/port. Attached, it stops
 * when standard input closes, so it cannot outlive whoever started it; detached, it stops on SIGTERM.
 */
public final class OpenSearchLauncher {
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
        Settings paths = Settings.builder().put("path.home", home.toString()).build();
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
                paths, Map.of(), home.resolve("conf"), () -> "cogitave-query");
        Node node = new ClassPathNode(environment);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        int port = node.injector()
                .getInstance(HttpServerTransport.class)
                .info()
                .getAddress()
                .publishAddress()
                .getPort();
        announce(home.resolve("run"), port);
        if (attached) {
            while (System.in.read() >= 0) {}
            System.exit(0);
        }
        new CountDownLatch(1).await();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (IOException failure) {
            failure.printStackTrace();
        }
    }

    private static void announce(Path folder, int port) throws IOException {
        Files.createDirectories(folder);
        Path draft = Files.writeString(folder.resolve("port.draft"), Integer.toString(port));
        Files.move(draft, folder.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** A node whose modules come from the class path instead of a modules folder. */
    private static final class ClassPathNode extends Node {
        ClassPathNode(Environment environment) {
            super(
                    environment,
                    List.of(
                            plugin(Netty4ModulePlugin.class, List.of()),
                            plugin(PainlessModulePlugin.class, List.of()),
                            plugin(TextAnalysisPlugin.class, List.of(PainlessModulePlugin.class.getName())),
                            plugin(ReindexModulePlugin.class, List.of())),
                    true);
        }

        private static PluginInfo plugin(Class<? extends Plugin> type, List<String> extended) {
            String name = type.getName();
            return new PluginInfo(name, "classpath plugin", "NA", Version.CURRENT, "11", name, null, extended, false);
        }
    }
}
