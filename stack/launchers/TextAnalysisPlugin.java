import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.th.ThaiTokenizer;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.index.analysis.AnalyzerProvider;
import org.opensearch.index.analysis.PreBuiltAnalyzerProviderFactory;
import org.opensearch.indices.analysis.AnalysisModule.AnalysisProvider;

/**
 * The analyzers of OpenSearch, without Thai on a Java runtime that can't segment it: a small runtime leaves out the
 * data, and then no index at all could be created.
 */
public final class TextAnalysisPlugin extends CommonAnalysisModulePlugin {
    private static final String THAI = "thai";

    @Override
    public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
        Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> analyzers = new HashMap<>(super.getAnalyzers());
        if (!ThaiTokenizer.DBBI_AVAILABLE) {
            analyzers.remove(THAI);
        }
        return analyzers;
    }

    @Override
    public List<PreBuiltAnalyzerProviderFactory> getPreBuiltAnalyzerProviderFactories() {
        return super.getPreBuiltAnalyzerProviderFactories().stream()
                .filter(analyzer -> ThaiTokenizer.DBBI_AVAILABLE || !analyzer.getName().equals(THAI))
                .toList();
    }
}
