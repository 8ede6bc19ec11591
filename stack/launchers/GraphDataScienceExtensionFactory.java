import java.util.Optional;
import org.neo4j.configuration.Config;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.gds.OpenGdsLicenseState;
import org.neo4j.gds.applications.operations.FeatureTogglesRepository;
import org.neo4j.gds.concurrency.OpenGdsConcurrencyValidator;
import org.neo4j.gds.concurrency.OpenGdsPoolSizes;
import org.neo4j.gds.configuration.DefaultsConfiguration;
import org.neo4j.gds.configuration.LimitsConfiguration;
import org.neo4j.gds.core.OpenGdsIdMapBehavior;
import org.neo4j.gds.core.model.OpenModelCatalog;
import org.neo4j.gds.core.write.NativeExportBuildersProvider;
import org.neo4j.gds.logging.Log;
import org.neo4j.gds.metrics.Metrics;
import org.neo4j.gds.procedures.integration.DefaultExportLocation;
import org.neo4j.gds.procedures.integration.LogAccessor;
import org.neo4j.gds.procedures.integration.OpenGraphDataScienceExtensionBuilder;
import org.neo4j.gds.projection.AlphaCypherAggregation;
import org.neo4j.gds.projection.CypherAggregation;
import org.neo4j.kernel.api.procedure.GlobalProcedures;
import org.neo4j.kernel.extension.ExtensionFactory;
import org.neo4j.kernel.extension.ExtensionType;
import org.neo4j.kernel.extension.context.ExtensionContext;
import org.neo4j.kernel.lifecycle.Lifecycle;
import org.neo4j.logging.internal.LogService;

/** Wires the open edition of Graph Data Science into the server; its published jars hold every part but this one. */
public final class GraphDataScienceExtensionFactory
        extends ExtensionFactory<GraphDataScienceExtensionFactory.Dependencies> {

    /** What Neo4j hands over, by type. */
    public interface Dependencies {
        Config config();

        GlobalProcedures globalProcedures();

        LogService logService();

        DatabaseManagementService databaseManagementService();
    }

    public GraphDataScienceExtensionFactory() {
        super(ExtensionType.GLOBAL, "graph-data-science");
    }

    @Override
    public Lifecycle newInstance(ExtensionContext context, Dependencies dependencies) {
        Log log = new LogAccessor().getLog(dependencies.logService(), getClass());
        return OpenGraphDataScienceExtensionBuilder.create(
                        log,
                        dependencies.databaseManagementService(),
                        context.dependencySatisfier(),
                        dependencies.globalProcedures(),
                        dependencies.config(),
                        new OpenGdsConcurrencyValidator(),
                        DefaultsConfiguration.Instance,
                        (database, configuration) -> new NativeExportBuildersProvider(),
                        new DefaultExportLocation(log, dependencies.config()),
                        new FeatureTogglesRepository(),
                        new OpenGdsIdMapBehavior(),
                        OpenGdsLicenseState.INSTANCE,
                        LimitsConfiguration.Instance,
                        Metrics.DISABLED,
                        new OpenModelCatalog(),
                        null,
                        new OpenGdsPoolSizes(),
                        new CypherAggregation(),
                        new AlphaCypherAggregation(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty())
                .getLeft()
                .build();
    }
}
