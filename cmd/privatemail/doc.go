// Privatemail embeds labelled feature vectors so that near neighbours stay near
// and classes gather, finds nearest rows without showing the query, and releases
// the first step with differential privacy.
//
//	privatemail VERB [FLAGS] [FILES]
//
//	demo         private retrieval on handwritten digits; no files needed
//	evaluate     measure retrieval under privacy: modes against epsilon
//	embed        embed a file of feature vectors
//	fit          make a labelled file searchable, and place queries in it
//	apply        place new rows by a model of fit, and predict their classes
//	show         explain a file that this program has written
//	search       find the nearest rows of a gallery for every query, exactly
//	serve        answer private queries about a gallery over the network
//	query        find nearest rows of a served gallery, without showing yours
//	split        split a gallery into shards, which several machines serve
//	front        answer private queries from shards on other servers
//	graph        write the neighbour graph of a file as a sparse matrix
//	generate     write synthetic feature vectors, or the digits of the demo
//	sensitivity  show what noise a private first step needs; no data
//	privatize    release the first step with differential privacy
//	continue     take a release further: rebuild its graph and iterate
//	budget       create, show or verify the ledger of what releases cost
//	cache        list or clear the files kept in the user's cache folder
//	help         explain a verb
//	version      show what this program was built from
//
// 'privatemail VERB -h' is a screen with an example and the most used flags;
// 'privatemail help VERB -all' has every flag and all details. Flags may stand
// before or after file names; everything after -- is a name.
//
// # Files
//
// FEATURES is a file (.npy, .npz, .csv, .tsv, .txt, .fvecs, .bvecs, .ivecs, .fbin,
// .u8bin, .i8bin, .ibin, IDX), or a folder with features.npy and labels.npy. Labels are
// one integer or name per row; -1, an empty field, NA, NaN or null is no label. They come
// from a file of their own (-labels), from the column of text that -label-column names or
// that is called label, labels, class, target, category, species or y, or from the array
// labels, label, y or target of a .npz. The features of a .npz are its array features, X,
// x, data or arr_0; x.npz:NAME names another. -columns chooses columns of text, -header
// says whether line 1 names them. Standard error says how text was read. Names of classes
// are numbered in sorted order and written next to the output: e.labels.csv for -out
// e.npy. apply, search, query and fit -queries match columns by name, in any order; the
// names are those of a header, of columns.csv in a folder, or of the array columns,
// column_names or feature_names of a .npz. Package formats has the details.
//
// Output is float32 as .npy, .fvecs, .fbin or .idx, by the ending of its name. The command
// finds out whether it can be written before the work begins. A file is replaced as a
// whole or not at all: after a failure or Ctrl-C the previous file is as it was.
//
// # Output
//
// Results go to standard output, progress and messages to standard error: progress as a
// bar on a terminal, elsewhere as plain lines at least two seconds apart. -quiet prints
// errors only: no progress, notes, warnings or results. -v adds how the graph was made,
// with its certificate, memory and the objective, and the promises of a release as
// formulas. With -json, also with -quiet, results are one JSON object per line; infinite
// numbers are null.
//
// Messages count rows, columns and lines from 1. Row numbers for programs count from 0:
// those in files, in -json, in the tables of what search and query find, and in
// -private-rows.
//
//	embed     n d dim form operator sigma gamma radius neighbours mean_degree
//	          isolated eta_max eta_p99 nnz bytes peak_bytes build_seconds
//	          steps_seconds seconds reading_seconds writing_seconds standardize connected
//	          status trace[step objective scale change] out names plot
//	          -plan: per operator, best first: operator picked feasible seconds seconds_low
//	          seconds_high build_seconds seconds_per_step bytes peak_bytes
//	          nnz eta radius neighbours degree{mean p1 p10 p50 p90 p99 isolated}
//	          reason n d sigma gamma standardize
//	fit       n d dim recipe held_out{rows raw scaled result lead_standard_error
//	          recipes_tried} graph{as of embed} trace seconds{choice map graph steps
//	          files all} out model queries queries_out map_out names plot
//	apply     n d dim model recipe zeros seconds out classes voters rows_without_class
//	          labelled_rows accuracy
//	show      file kind bytes, and the facts of that kind
//	search    gallery queries d k recall_at_1 recall_at_k labelled_queries seconds out
//	          distances_out classes queries_without_class accuracy; before it, without -out, per query: query ids distances
//	serve, front  listening admin
//	query     server mode form codebook epoch confirmed gallery queries k epsilon privacy
//	          records_that_spent records_remembered queries_with_fewer seconds out
//	          distances_out classes and others; before it, without -out, per query: query
//	          name ids distances rows lists base fewer
//	split     shards[file first rows]
//	graph     n d entries values out, and those of embed about the graph
//	generate  kind n d classes seed out labels
//	demo, evaluate  per configuration: data mode title epsilon delta k alpha sigma
//	          steps protects warning seeds queries classes gallery ceiling download
//	          base figures{"R@1" "R@8" "P@8" "mAP@100" "overlap@8" and others, each
//	          mean low high} facts seconds
//	sensitivity  n dim sigma alpha table classes sigma_q seed operator computed
//	          relation tight{delta operator_error derivation assumptions}
//	          relations[relation delta] corrected{M delta delta_spectral relation}
//	          paper{M_ii M_ij M delta valid proved why} epsilon delta e_to_epsilon
//	          odds{odds_exceed odds_at_delta epsilon_records} sensitivity_total sigma_analytic sigma_classical mu rho signal_rms
//	          noise_to_signal cautions[id text]
//	privatize n d dim id relation operator derivation epsilon epsilon_total delta
//	          odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu rho
//	          records label_mode label_epsilon ledger head sha256 signal_rms
//	          noise_to_signal cautions out
//	          -dry-run: dry_run n d dim relation operator derivation epsilon epsilon_total
//	          delta odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu
//	          rho records label_mode label_epsilon signal_rms noise_to_signal
//	          refused[noise budget] ledger{path new_unit cost{rho pure} fits
//	          budget_epsilon epsilon_so_far epsilon_after left_before{rho pure}
//	          left_after{rho pure} unit_protects} cautions
//	continue  n dim labels status trace out, and those of embed about the graph
//	budget    kind epsilon delta whole{rho pure} records head ledger
//	          units[unit kind spent{rho pure} remaining{rho pure} epsilon_spent
//	          epsilon_basic]
//	          spends[sequence unit release epsilon delta rho pure_epsilon
//	          cost{rho pure} released]
//	          verify: ledger head releases[file release spend unit paid note]
//	          spends_without_release
//	cache     folder files[file what ours bytes time why] removed[the same] bytes
//	version   version revision modified go platform simd choices choices_from
//
// Bytes are what the graph holds between steps, peak_bytes what building it took. The
// same input gives the same output file for any number of workers.
//
// # Several processes
//
// A program that was built with MPI (CC=mpicc go build -tags mpi ./cmd/privatemail) shares
// the work of embed, fit and continue among the processes that mpirun starts, its ranks:
//
//	mpirun -n 4 privatemail embed birds/ -normalize-rows -mean-neighbours 20 -beta 3 -out birds.npy
//
// All ranks see the same files under the same names. Each reads and writes its rows, only
// rank 0 prints, -workers and -max-memory are those of each rank, and the file has the
// bytes that one process writes. Other verbs run on one process. docs/scale.md has more.
//
// # Processor instructions
//
// Inner loops use the best instructions of the processor; 'privatemail version' names
// them. The environment variable PM_SIMD asks for less: generic (plain Go), avx2, avx512,
// avx512vnni, amx or neon. Some loops of avx512 and above come in two forms with the same
// bits: one gathers numbers from memory, the other loads them one by one. A short
// measurement finds the faster one. A clear answer is kept in
// privatemail/calibration-choices.json of the user's cache folder, for this processor and
// its microcode, so that the next command makes the same choice. PM_SIMD may name a
// choice, with or without a level: gather=off, or avx512,gather=on. Releases do not depend
// on it. Embeddings depend on it within -tolerance: their operator is chosen by its cost,
// and the last digits of some follow the level.
//
// # Exit codes
//
//	0    success
//	1    the request was refused or failed: a file is missing or damaged, memory
//	     does not suffice, the iteration diverged, the noise of a release exceeds its signal
//	2    wrong usage: unknown verb or flag, contradicting flags
//	130  interrupted by Ctrl-C or SIGTERM; a second signal ends the program at once
//
// An error is one line that names the file, row or flag and what to do:
//
//	privatemail: embed: x.npy: row 17, column 3 is NaN or infinite; remove the row or replace the value
package main
