"""`mdvec search` and `mdvec get`: the same results as from the server, and stored documents."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from mdvec import documents, embedding, manage, search, text
from mdvec.dates import today
from mdvec.text import counted, on_one_line

from mdvec_cli.commands.terminal import (
    DisplayFormat,
    FormatOption,
    NameOption,
    SettingsOptions,
    in_own_language,
    name_option,
    print_json,
    print_line,
    print_sentence,
    print_table,
    print_text,
    say,
    wants_json,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.settings import Settings

_LINES_SHOWN = 8


@with_settings_options
def search_command(
    options: SettingsOptions,
    query: Annotated[
        str, typer.Argument(
            help="What to search for; without it, the documents that pass the filters are listed.",
            show_default=False,
        ),
    ] = "",
    name: Annotated[
        str | None, name_option("The tool to search; by default, all active ones.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", help="The number of hits.")] = None,
    return_: Annotated[
        Literal["chunk", "section", "document"],
        typer.Option("--return", help="How much text each hit shows."),
    ] = "chunk",
    mode: Annotated[
        Literal["hybrid", "vector", "lexical"] | None,
        typer.Option("--mode", "-m",
                     help="Search by words and vectors (hybrid), or by one of them."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(metavar="PATTERN",
                     help="Only files like this, as in .gitignore: notes/2025/, *.md."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG",
                     help="Only notes with this tag or a subtag; repeat to require several."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="DAY",
                     help="Only notes from this day on: 2025-06-01, 2025年6月, 先週, last week."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="Only notes up to this day."),
    ] = None,
    exact: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT",
                     help='Only passages with this text as written, as with "TEXT" in the query.'),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT",
                     help="No passages with this text, as with -TEXT in the query."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="QUERY",
                     help="The same in other words or languages, ranked together; up to 5."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY[=VALUE]",
                     help="Only notes with this in the front matter; repeat to require several."),
    ] = None,
    links_to: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Only notes that link to this one."),
    ] = None,
    related_to: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Notes that are about the same."),
    ] = None,
    tasks: Annotated[
        bool, typer.Option("--tasks", help="Only what has open tasks (- [ ]).")
    ] = False,
    page: Annotated[
        int, typer.Option(min=1, help="The page of a listing.", show_default=False)
    ] = 1,
    sort: Annotated[
        Literal["relevance", "newest"],
        typer.Option(help="The best first, or the newest good answers."),
    ] = "relevance",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the ranks and scores behind each hit.")
    ] = False,
    format_: FormatOption = None,
) -> None:  # fmt: skip
    """Search one tool, or all of them, as the server does."""
    settings = options.settings(search={"k": k, "mode": mode})
    typed = search.typed_query(query)
    filters = search.filters_of(
        today(), path=path, tags=tag, since=since, until=until, exact=exact, exclude=exclude,
        links_to=links_to, where=search.where_entries(where or ()), open_tasks=tasks,
    )  # fmt: skip
    stated = search.Question(
        query, None if name is None else (name,), settings.search.k, settings.search.mode, return_,
        settings.search.max_chars, filters, sort, tuple(also or ()), related_to,
    )  # fmt: skip
    request = replace(stated.with_typed(typed), query=typed.words)
    if text.is_blank(request.query) and request.queries and related_to is None:
        request = request.with_next_query()
    as_json = wants_json(format_, settings)
    if related_to is None and text.is_blank(request.query):
        is_for_all = request.filters.is_empty and request.tools is None and sort == "relevance"
        if text.is_blank(query) and is_for_all:
            raise typer.BadParameter("it is blank; ask something, or filter", param_hint="query")
        listing = search.list_documents(
            settings.database_path, request.tools, request.filters, page, sort
        )
        _print_listing(listing, as_json=as_json)
        return
    answer = _answer(settings, request)
    if as_json:
        _print_json(answer, explain=explain)
        return
    of_page = [search.NO_PAGES] if page > 1 else []
    for note in (*of_page, *search.signs_read_as_text(query, is_code=False), *answer.notes):
        say(f"note: {note}")
    _print_hits(answer, explain=explain)


def _answer(settings: Settings, question: search.Question) -> search.Answer:
    backend = settings.model.options()
    return search.search(
        settings.database_path,
        question,
        lambda model: nullcontext(embedding.catalog.load(model, backend)),
        settings.vector_engine,
        settings.reranker(),
        manage.RECORDS,
    )


def _print_listing(listing: search.Listing, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(listing))
        return
    say(listing.first_sentence)
    for note in listing.notes:
        say(f"note: {note}")
    for document in listing.documents:
        tags = "".join(f" #{tag}" for tag in document.tags)
        entries = "".join(f" {key}={', '.join(values)}" for key, values in document.entries)
        about = f"{document.title} {document.date or ''}{tags}{entries}".rstrip()
        print_line(f"{document.tool}: {on_one_line(document.file_path)}  {on_one_line(about)}")
        for line, task in document.tasks:
            print_line(f"    {line}: {on_one_line(task)}")


def _print_json(answer: search.Answer, *, explain: bool) -> None:
    plain = asdict(answer)
    if not explain:
        del plain["seconds"], plain["evidence"], plain["is_asked"]
        for hit in plain["results"]:
            del hit["explanation"]
    print_json(plain)


def _print_hits(answer: search.Answer, *, explain: bool) -> None:
    if not answer.results:
        say(_why_no_hits(answer))
    elif answer.first_sentence:
        say(answer.first_sentence)
    for number, hit in enumerate(answer.results, 1):
        heading = f"  {on_one_line(hit.heading)}" if hit.heading else ""
        about = _hit_line(hit)
        source = f"{hit.tool}: {on_one_line(hit.file_path)}:{hit.start_line}-{hit.end_line}"
        pages = f" {hit.pages}" if hit.pages else ""
        print_line(f"[{number}] {hit.score:.2f}  {source}{pages}{heading}{about}")
        if explain:
            for line in _explanation(hit, answer.query):
                print_line(f"    {in_own_language(line)}")
        for line in _shown_lines(hit):
            print_line(f"    {line}")
    if explain:
        print_sentence(_judgement(answer))
        print_table(
            "time", ("stage", "ms"),
            [(stage, f"{spent * 1000:.1f}") for stage, spent in answer.seconds.items()],
        )  # fmt: skip


def _hit_line(hit: search.Hit) -> str:
    """The end of a hit's line: what it is about, what found it, and other tools that have it."""
    about = f"  ({on_one_line(hit.about)})" if hit.about else ""
    more = [
        f"[found by {on_one_line(', '.join(hit.found_by))}]" if hit.found_by else "",
        f"[also in {', '.join(hit.also_in)}]" if hit.also_in else "",
    ]
    return about + "".join(f"  {in_own_language(part)}" for part in more if part)


def _why_no_hits(answer: search.Answer) -> str:
    if not answer.tools:
        return (
            "no tool with texts is active; add one with: "
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER, '
            "or enable one with: mdvec tool enable -n NAME"
        )
    names = ", ".join(answer.tools)
    if not answer.total_chunks:
        how = answer.tools[0] if len(answer.tools) == 1 else "NAME"
        return f"{names}: no documents yet; import them with: mdvec import -n {how}"
    return f"{names}: nothing found in {counted(answer.total_chunks, 'passage')}"


def _shown_lines(hit: search.Hit) -> list[str]:
    """The first lines of the passage, without blank ones."""
    lines = [on_one_line(line) for line in hit.content.splitlines() if line.strip()]
    if len(lines) > _LINES_SHOWN:
        rest = in_own_language(f"… {counted(len(lines) - _LINES_SHOWN, 'more line')}")
        return [*lines[:_LINES_SHOWN], rest]
    return lines


def _explanation(hit: search.Hit, question: str) -> list[str]:
    """How a hit got its score: from words, vectors, and both combined."""
    why = hit.explanation
    words = " ".join(why.matched_words) or "–"
    spelled = ", ".join(text.spelled_parts(question, why.matched_terms)) or "–"
    vectors = "not used"
    if why.cosine is not None:
        vectors = f"rank {why.vector_rank}, cosine {why.cosine:.3f}, score {why.vector_score:.4f}"
    share = why.lexical_weight
    return [
        f"words: rank {why.lexical_rank}, score {why.lexical_score:.4f}; the passage has "
        f"{why.coverage:.0%} of what the question's words tell "
        f"({why.document_coverage:.0%} with the rest of its document), "
        f"its title or heading {why.named:.0%}",
        f"matched words: {words}; as spelled in the question: {spelled}",
        f"vectors: {vectors}",
        f"together: {share:.4f} × words + {1 - share:.4f} × vectors = {why.fused:.4f}; "
        f"likely to answer: {hit.score:.0%}",
    ]


def _judgement(answer: search.Answer) -> str:
    """The evidence that the hits answer the question."""
    basis = answer.evidence
    nearest = "similarity not used"
    if basis.likeness is not None:
        nearest = (
            f"the nearer of them is {basis.likeness:+.1f} standard deviations above the usual best "
            "match of an unanswerable question"
        )
    covered = "words not used"
    if basis.coverage is not None:
        covered = f"at most {basis.coverage:.0%} of the question in one of the first two passages"
    absent = f"; nowhere: {', '.join(basis.absent)}" if basis.absent else ""
    return (
        f"judged by: {covered}; {nearest}{absent}; "
        f"{basis.chunks:,} passages. Likely: {basis.likelihood(0.0):.0%}, "
        f"which must be {basis.constants.least:.0%} to count as an answer"
    )


@with_settings_options
def get_command(
    options: SettingsOptions,
    file: Annotated[str, typer.Argument(help="The document, as search shows it.")],
    name: NameOption,
    from_line: Annotated[int | None, typer.Option("--from", min=1, help="The first line.")] = None,
    to_line: Annotated[int | None, typer.Option("--to", min=1, help="The last line.")] = None,
    page: Annotated[int | None, typer.Option(min=1, help="A page, slide or chapter.")] = None,
    format_: Annotated[
        DisplayFormat, typer.Option("--format", help="The output format.")
    ] = "table",
) -> None:
    """Print a document as it was imported, some of its lines, or a page of it."""
    settings = options.settings()
    part = documents.DocumentPart(from_line, to_line, page=page)
    document = documents.read_document(settings.database_path, name, file, part, sys.maxsize)
    if format_ == "json":
        print_json(document)
    else:
        print_text(document.with_pages)
