"""Every way of saying no, as types that carry what to do next.

A surface maps the three families in one place: `Refused` (the request is at fault: 4xx, exit 3), `Unavailable`
(an engine or the data folder is: 503, exit 1), `PublishFailed` (nothing was published: exit 1).
"""

from collections.abc import Sequence

from service.domain.diagnostics import Diagnostic


class Refused(Exception):
    """The request can't be answered as it stands. `code` is stable; `message` says what is wrong and what to do."""

    code = "refused"

    def __init__(self, message: str, *, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion


class QueryEmpty(Refused):
    code = "query_empty"


class QueryTooLong(Refused):
    code = "query_too_long"


class QueryMalformed(Refused):
    """Text that no engine can hold: a NUL or a lone surrogate."""

    code = "query_malformed"


class LimitOutOfRange(Refused):
    code = "limit_out_of_range"


class FilterUnknown(Refused):
    code = "filter_unknown"


class FacetUnknown(Refused):
    code = "facet_unknown"


class SignalUnknown(Refused):
    code = "signal_unknown"


class LevelUnknown(Refused):
    code = "level_unknown"


class FilterValueUnknown(Refused):
    code = "filter_value_unknown"


class CursorForeign(Refused):
    """A cursor that this service did not make, or made for another request."""

    code = "cursor_foreign"


class CursorStale(Refused):
    """The snapshot that the cursor pins has been replaced: the same request without the cursor starts again."""

    code = "cursor_stale"


class SetUnreadable(Refused):
    """A judged set's file is missing or says something else than its format; the message names file and line."""

    code = "set_unreadable"


class ConfigurationUnreadable(Refused):
    """A configuration to evaluate is missing, is no TOML, or says what no configuration says."""

    code = "configuration_unreadable"


class JudgmentsFull(Refused):
    """As many judgments are kept as may be."""

    code = "judgments_full"


class TuningInvalid(Refused):
    """Pinned results or synonyms that say nothing, contradict themselves, or are more than may be kept."""

    code = "tuning_invalid"


class TuningChanged(Refused):
    """Somebody else made a version meanwhile: `suggestion` is the one to start from."""

    code = "tuning_changed"

    @classmethod
    def to(cls, version: int) -> "TuningChanged":
        return cls(
            f"The tuning is at version {version} by now. Read it, and make the change to that version.",
            suggestion=str(version),
        )


class TuningUnknown(Refused):
    """No such version of a tuning is kept."""

    code = "tuning_unknown"


class RunUnknown(Refused):
    """No run of this id is kept."""

    code = "run_unknown"


class NodeUnknown(Refused):
    """No such node, or none that the principal may see: the two are not told apart."""

    code = "node_unknown"


class SectionUnknown(Refused):
    """The node has no such section."""

    code = "section_unknown"


class RootUnknown(Refused):
    """No kept snapshot has this content root."""

    code = "root_unknown"


class KeyUnknown(Refused):
    """No API key has this id."""

    code = "key_unknown"


class EstateUnreadable(Refused):
    """A path that is no estate: missing, not a folder, or of no format that a reader knows."""

    code = "estate_unreadable"


class BackupImpossible(Refused):
    """There is nothing here that could be backed up so, or no place for it."""

    code = "backup_impossible"


class BackupInvalid(Refused):
    """The archive is damaged, of another version, or no backup: nothing of it was put in place."""

    code = "backup_invalid"


class DataFolderUsed(Refused):
    """A restore makes a new data folder, and changes none."""

    code = "data_folder_used"


class SubmissionInvalid(Refused):
    """What a client sent to be published contradicts itself."""

    code = "submission_invalid"


class RecordsMissing(Refused):
    """A publish names records that were neither sent nor are stored: what the server lacks is to be asked again."""

    code = "records_missing"


class SettingInvalid(Refused):
    code = "setting_invalid"


class Unavailable(Exception):
    """Something that the service stands on can't serve now. `message` says which, why, and what to do."""

    code = "unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FirstPublishUnderWay(Unavailable):
    """Nothing was published before, and what will be is not there yet: an empty answer would say something else."""

    code = "first_publish_under_way"


class EngineUnavailable(Unavailable):
    """An engine refused, broke off, or could not be reached.

    reason: for whoever asked. detail: the driver's own words, which may name addresses; for the operator alone.
    """

    code = "engine_unavailable"

    def __init__(self, engine: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{engine}: {reason}")
        self.engine = engine
        self.reason = reason
        self.detail = detail


class EngineLate(EngineUnavailable):
    """An engine did not answer before the deadline; its work was stopped."""

    code = "engine_late"

    def __init__(self, engine: str, reason: str = "no answer before the deadline", detail: str = "") -> None:
        super().__init__(engine, reason, detail)


class AllLegsDown(Unavailable):
    """No leg could answer: an empty list would be a lie."""

    code = "all_legs_down"


class SnapshotReplaced(Unavailable):
    """The estate was published anew while it was read: what was read so far and what comes next don't go together."""

    code = "snapshot_replaced"


class DataFolderHeld(Unavailable):
    """Another process owns the data folder, and it is no server that could answer in our place."""

    code = "data_folder_held"


class DataFolderUnwritable(Unavailable):
    """The data folder is read-only, full, or not a folder."""

    code = "data_folder_unwritable"


class DataFolderVersionUnknown(Unavailable):
    """The data folder was written by a version whose layout this one doesn't read."""

    code = "data_folder_version_unknown"


class PublishFailed(Exception):
    """Nothing was published: the old snapshot goes on answering. `diagnostics`: the findings that it failed for."""

    code = "publish_failed"

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)


class PublishInProgress(PublishFailed):
    """Another publisher is at work on this store."""

    code = "publish_in_progress"
