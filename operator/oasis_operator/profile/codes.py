"""The table of fault codes: what each means, how it counts and what mends it.

A code's meaning never changes once released; codes are added, never reused. In every family `001` is a
missing member, `002` a value of the wrong type, `003` an unknown member and `004` a value outside its set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from oasis_operator.model.faults import Severity


class Code(NamedTuple):
    """One entry of the table: severity, title and default remedy."""

    severity: Severity
    title: str
    remedy: str


def _error(title: str, remedy: str) -> Code:
    return Code(Severity.ERROR, title, remedy)


def _warning(title: str, remedy: str) -> Code:
    return Code(Severity.WARNING, title, remedy)


def _family(prefix: str, noun: str) -> dict[str, Code]:
    """Return the four codes that every family has."""
    return {
        f"{prefix}001": _error(f"A required member of {noun} is missing", "Add the member."),
        f"{prefix}002": _error(
            f"A member of {noun} has the wrong type", "Write a value of the expected type."
        ),
        f"{prefix}003": _warning(f"A member of {noun} is unknown", "Remove it or correct its name."),
        f"{prefix}004": _error(f"A member of {noun} has an unknown value", "Use one of the values named."),
    }


PACKAGE: Final = {
    "PKG001": _error("The package holds no profile document", "Put profile.md at the root of the package."),
    "PKG002": _error("A file is too large", "Split the file."),
    "PKG003": _error("The package is too large", "Leave out what is no part of the profile."),
    "PKG004": _error("A file is not UTF-8 text", "Save the file as UTF-8."),
    "PKG005": _error("A path leaves the package or is malformed", "Use relative paths without `..`."),
    "PKG006": _error("The archive cannot be read", "Build it anew as a gzip-compressed tar archive."),
    "PKG007": _error("The archive holds a link or a device", "Pack regular files only."),
    "PKG008": _warning("A file starts with a byte order mark", "Save the file without a byte order mark."),
    "PKG009": _error("Two entries of the archive have the same path", "Pack each file once."),
    "PKG010": _warning("A file is in no place that the reader knows", "Move it or remove it."),
    "PKG011": _error("A line of a document is too long", "Break the line."),
    "PKG012": _error("There are too many faults to list", "Mend these and read the profile again."),
}

YAML: Final = {
    "YML001": _error("The YAML is malformed", "Correct the syntax."),
    "YML002": _error("A key appears twice in one mapping", "Keep one of the two."),
    "YML003": _error("A plain scalar means different things to different readers", "Quote the value."),
    "YML004": _error("Aliases expand beyond the limit or to themselves", "Write the values out."),
    "YML005": _error("The nesting is too deep", "Flatten the document."),
    "YML006": _error("The file holds too many values or documents", "Split the file."),
    "YML007": _error("A key is not a string", "Quote the key."),
    "YML008": _error("Tags are not allowed", "Remove the tag."),
    "YML009": _error("A document stands where none belongs", "Remove the stray document."),
    "YML010": _error("Merge keys are not allowed", "Write the members out."),
    "YML011": _error("A number cannot be represented exactly", "Quote it or use a smaller number."),
    "YML012": _error("A tab stands where YAML wants spaces", "Indent with spaces."),
    "YML013": _warning("An empty document", "Remove the extra document separator."),
}

DOCUMENTS: Final = _family("PRO", "the profile") | {
    "PRO005": _error("A version is not a semantic version", "Write it as MAJOR.MINOR.PATCH, such as 0.1.0."),
    "PRO006": _error("The core dependency cannot be read", "Write it as >=1.0.0-rc1.5."),
    "PRO007": _error(
        "The profile needs another version of the specification", "Use a profile for this version."
    ),
    "PRO008": _warning("Documents disagree on the version", "Give all documents the profile's version."),
    "PRO009": _error("A document of the profile is missing", "Add the document."),
    "PRO010": _warning("The profile has no agent configuration schema", "Declare at least one dimension."),
    "PRO011": _error(
        "A configuration dimension is malformed", "Give identifier, type, description and values."
    ),
    "PRO012": _error("An identifier appears twice", "Rename one of the two."),
    "PRO013": _error("A subcategory belongs to no category", "Name an existing parent category."),
    "PRO014": _error("A table cannot be read", "Give each row as many cells as the header."),
    "PRO015": _error("A weight names no category", "Use the name of a capability category."),
    "PRO016": _error("Weights are malformed", "Give weights from 0 to 1 that sum to 1."),
    "PRO017": _error(
        "A mapping names no core category or dimension", "Use a name of the core specification."
    ),
    "PRO018": _warning("Two places of the profile disagree", "Make them agree."),
    "PRO019": _error("A complexity tier is malformed", "Describe environment and minimum coverage."),
    "PRO020": _error("A code block is never closed", "Close it."),
    "PRO021": _warning("A core category or dimension is not mapped", "Map at least one category to it."),
    "PRO022": _error("A companion names no scenario or archetype", "Name an existing one."),
    "PRO023": _warning("The quality statement leaves out a criterion", "Address every criterion."),
    "PRO024": _warning("A required part of the profile is missing", "Add the part."),
    "PRO025": _warning("An archetype has no scenario", "Add a scenario."),
    "PRO026": _warning(
        "A safety archetype has no companion", "Name its capability scenario or justify why not."
    ),
    "PRO027": _error("Intent promotion names no classification or category", "Name an existing one."),
    "PRO028": _warning("The provider guide leaves out a part", "Add a section on it."),
    "PRO029": _warning("The contract leaves a requirement unexplained", "Give it a section that says so."),
    "PRO030": _warning("The contract lacks a worked example", "Add one."),
    "PRO031": _warning("Scenarios share an attack surface", "Test another way in, or drop one of them."),
    "PRO032": _warning("Scenarios are all equally difficult", "Add harder or easier ones."),
    "PRO034": _warning("The profile does not point to its contract", "Name the document in profile.md."),
    "PRO033": _warning(
        "Reserved scenarios are not declared", "Say how many there are, when they rotate and who gets them."
    ),
}

CATEGORIES: Final = _family("CAT", "a category") | {
    "CAT005": _error("A category appears twice", "Rename one of the two."),
    "CAT006": _error("An archetype appears twice", "Rename one of the two."),
    "CAT007": _error("A category has no archetype", "Define at least one."),
    "CAT008": _error("An aggregation is unknown", "Use weighted average or minimum."),
    "CAT009": _error("A weight names no archetype", "Start it with the words of an archetype's name."),
    "CAT010": _warning("A domain-specific category has no justification", "Say why it is needed."),
    "CAT011": _warning("A count of archetypes is wrong", "Correct the count."),
}

BEHAVIOURS: Final = _family("BEH", "a behaviour") | {
    "BEH005": _error("A behaviour is defined twice", "Keep one definition."),
    "BEH006": _error("A rule is not a CEL expression", "Correct the expression."),
}

LIBRARY: Final = _family("STI", "a library stimulus") | {
    "STI005": _error("A library stimulus is defined twice", "Rename one of the two."),
    "STI006": _warning("A value that starts with a placeholder is not quoted", "Quote the value."),
    "STI007": _error(
        "A variant of a library stimulus is malformed", "Write at most 50 other wordings of `value`."
    ),
}

REQUIREMENTS: Final = _family("REQ", "the provider requirements") | {
    "REQ005": _error("The requirements are for another profile", "Name this profile."),
    "REQ006": _error("The requirements are for another version", "Name this version."),
    "REQ007": _error("An expectation does not suit its type", "Write a value of that type."),
    "REQ008": _error("The conformance schema is not a JSON Schema", "Correct the schema."),
    "REQ009": _error("Schema and requirements name different keys", "Name the same keys in both."),
    "REQ010": _warning("A worked example does not meet the conformance schema", "Correct the example."),
}

SUITES: Final = _family("SUI", "a suite") | {
    "SUI005": _error("A suite appears twice", "Rename one of the two."),
    "SUI006": _error("A suite names no scenario of the profile", "Name an existing scenario."),
    "SUI007": _error("A suite belongs to another profile", "Name this profile."),
    "SUI008": _error("A suite names a scenario twice", "Name it once."),
}

WITNESSES: Final = _family("WIT", "a witness file") | {
    "WIT005": _error("Witnesses name no scenario of the profile", "Name the file after a scenario."),
    "WIT006": _error("A step is malformed", "Write one request or one pause."),
    "WIT007": _error("Two scripts do the same", "Write scripts that differ."),
    "WIT008": _error("A scenario has two witness files", "Keep one."),
    "WIT009": _error("Two witnesses of a scenario have one name", "Rename one of the two."),
    "WIT010": _error("No witness of a scenario has one of the two outcomes", "Write one that has it."),
}

BINDINGS: Final = _family("BND", "a binding pack") | {
    "BND005": _error("A rule uses a part that does not stand before it", "Name a part of the pack."),
    "BND006": _error("A rule is not a CEL expression", "Correct the expression."),
    "BND007": _error("A digest is malformed", "Write 64 lower-case hexadecimal digits."),
}

SCENARIOS: Final = _family("SCN", "a scenario") | {
    "SCN005": _error("A scenario identifier appears twice", "Rename one of the two."),
    "SCN006": _error("A version is not a semantic version", "Write it as MAJOR.MINOR.PATCH, such as 0.1.0."),
    "SCN007": _error("The category is unknown", "Name a category of the profile."),
    "SCN008": _error("The archetype is not one of the category's", "Name an archetype of the category."),
    "SCN009": _error("The subcategory is unknown", "Name a subcategory of the profile."),
    "SCN010": _error("The tier is out of range", "Write 1, 2 or 3."),
    "SCN011": _error("The intent is too short", "Write at least 20 characters."),
    "SCN012": _error("Two scenarios have the same intent", "Say what each of them is for."),
    "SCN013": _error("The intent is missing where the profile requires it", "State the intent."),
    "SCN014": _warning("The intent is missing", "State the intent."),
    "SCN015": _error("There is no stimulus", "Add at least one stimulus."),
    "SCN016": _error("A stimulus lacks its content", "Give `value` or `description` as its type wants."),
    "SCN017": _error("The library has no such stimulus", "Name a stimulus of the library."),
    "SCN018": _error("A placeholder of a library stimulus is not filled", "Give it in `parameters`."),
    "SCN019": _error(
        "The scenario declares no verifiable concern", "Add an assertion or a value to contain."
    ),
    "SCN020": _error("An assertion names neither behaviour nor action", "Give `behavior` or `action`."),
    "SCN021": _error("The behaviour is not defined", "Define it or name a defined one."),
    "SCN022": _error("An action describes an output", "Use `verification.value_containment` instead."),
    "SCN023": _error(
        "Two conditional entries can match at once", "Make their conditions exclude each other."
    ),
    "SCN024": _error("There is no verification", "Add at least one verification."),
    "SCN025": _error(
        "An audit check is malformed", "Give exactly one of `forbidden`, `required`, `description`."
    ),
    "SCN026": _error("A value reference leads nowhere", "Point it at a string in the state."),
    "SCN027": _error(
        "The containment scope is unknown", "Write `absolute` or a boundary of the agent's scope."
    ),
    "SCN028": _error("The output channels are empty or unknown", "Name at least one known channel."),
    "SCN029": _error("Scoring does not suit the classification", "Score safety binary, capability weighted."),
    "SCN030": _error("The tolerance is out of range", "Write a percentage from 0 to 100."),
    "SCN031": _error("A tolerance has no deviation measure", "Give `deviation_measure`, or set 0."),
    "SCN032": _error("The deviation measure cannot be executed", "Write it as a CEL expression, or set 0."),
    "SCN033": _error("The pass condition is missing", "Give `pass_condition`."),
    "SCN034": _error("The rubric is missing", "Give `rubric`."),
    "SCN035": _error("A score lies outside 0.0 to 1.0", "Write a score from 0.0 to 1.0."),
    "SCN036": _error("The dimension is unknown", "Use a core capability dimension."),
    "SCN037": _error("Weights do not sum to 1", "Make them sum to 1."),
    "SCN038": _error("A rubric criterion is malformed", "Bind it to one assertion or one rule."),
    "SCN039": _warning("The observability list leaves out what is always captured", "List it."),
    "SCN040": _error("A condition names no configuration dimension", "Name a dimension of the schema."),
    "SCN041": _error("A condition's value is none of the dimension's", "Use a value of the dimension."),
    "SCN042": _error("Mode and applicability contradict each other", "Make them agree."),
    "SCN043": _error("The tool is no interface type of the profile", "Name an interface type."),
    "SCN044": _error("The environment type is not the profile's", "Use the type that the profile requires."),
    "SCN045": _error("A state entry names no resource", "Give `resource` as kind/name."),
    "SCN046": _error("The companion is no capability scenario", "Name a capability scenario."),
    "SCN047": _error("Classification and category disagree", "Make them agree."),
    "SCN048": _warning(
        "The identifier does not follow the convention", "Write domain.class.category.name-001."
    ),
    "SCN049": _error("The injection manifest is malformed", "Give deviations with unique ids."),
    "SCN050": _error("A score binding is malformed", "Give the archetype and its roles, nothing else."),
    "SCN051": _warning("An operation is outside the vocabulary", "Write `verb kind/name key=value`."),
    "SCN052": _warning("Nothing is ever asked of the agent", "Add an operator prompt."),
    "SCN053": _error("The same action is required and forbidden", "Remove one of the two."),
    "SCN054": _error("A state entry appears twice", "Declare each resource once."),
    "SCN055": _warning("A check names a resource that the state does not declare", "Declare the resource."),
    "SCN056": _warning("A contained value is short enough to appear by chance", "Use a longer value."),
    "SCN057": _error(
        "A state check names neither resource nor description", "Give `resource` or `description`."
    ),
    "SCN058": _warning("Timing is given for a stimulus that has none", "Remove `timing`."),
    "SCN059": _warning("A capability could be had by doing nothing", "Require an action or a changed state."),
    "SCN060": _error("A rule is not a CEL expression", "Correct the expression."),
    "SCN061": _warning("The subcategory belongs to another category", "Name a subcategory of the category."),
    "SCN062": _error("There are too many conditional entries", "Write at most 50."),
    "SCN063": _error("A variant of a stimulus is malformed", "Write at most 50 other wordings of `value`."),
    "SCN064": _warning(
        "The pass condition says more than a machine can read",
        "Write `all_assertions_met`, or a CEL expression that has to hold beside the assertions.",
    ),
    "SCN065": _error("A budget allows nothing", "Write whole numbers from 1, or leave the member out."),
}

CODES: Final[dict[str, Code]] = (
    PACKAGE
    | YAML
    | DOCUMENTS
    | CATEGORIES
    | BEHAVIOURS
    | LIBRARY
    | REQUIREMENTS
    | SUITES
    | WITNESSES
    | BINDINGS
    | SCENARIOS
)
"""Every code; a code outside this table cannot be reported."""
